#!/usr/bin/env python3
"""Write tests/data/proto/*.pb with the protobuf package (pip install protobuf grpcio-tools): make_protos.py [FOLDER].

tests/systems/protos.txt reads them, and compares what tsr writes with their bytes."""
import importlib, pathlib, struct, sys, tempfile

from grpc_tools import protoc

HERE = pathlib.Path(__file__).parent
OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent / "data/proto")


def modules():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("tensorflow", "caffe2"):
            assert protoc.main(["protoc", f"-I{HERE}", f"--python_out={folder}", f"{name}.proto"]) == 0
        sys.path.insert(0, folder)
        return importlib.import_module("tensorflow_pb2"), importlib.import_module("caffe2_pb2")


def tensorflow_files(tf):
    def message(dtype, sizes, **values):
        m = tf.TensorProto(dtype=dtype, **values)
        m.tensor_shape.SetInParent()
        for size in sizes:
            m.tensor_shape.dim.add(size=size)
        return m

    yield "tf_float_content", message(tf.DT_FLOAT, [2, 3], tensor_content=struct.pack("<6f", *range(6)))
    yield "tf_float_field", message(tf.DT_FLOAT, [2, 3], float_val=range(6))
    yield "tf_float_filled", message(tf.DT_FLOAT, [2, 2], float_val=[7])
    yield "tf_double", message(tf.DT_DOUBLE, [], tensor_content=struct.pack("<d", 2.5))
    yield "tf_int64_field", message(tf.DT_INT64, [3], int64_val=[1, -2, 1 << 40])
    yield "tf_int8_field", message(tf.DT_INT8, [2], int_val=[-3, 4])
    yield "tf_uint64_field", message(tf.DT_UINT64, [1], uint64_val=[(1 << 64) - 1])
    yield "tf_bool_field", message(tf.DT_BOOL, [3], bool_val=[True, False, True])
    yield "tf_half_field", message(tf.DT_HALF, [2], half_val=[0x3E00, 0xC000])
    yield "tf_complex_field", message(tf.DT_COMPLEX64, [2], scomplex_val=[1, 2, 3, -4])
    yield "tf_string", message(tf.DT_STRING, [3], string_val=[b"a", b"", "\u00fc".encode()])
    yield "tf_version", message(tf.DT_INT32, [1], version_number=3, int_val=[9])
    shape = tf.TensorShapeProto()
    for size, name in ((2, "rows"), (0, ""), (5, "x" * 200)):
        shape.dim.add(size=size, name=name)
    yield "tf_shape", shape


def caffe2_files(c2):
    T = c2.TensorProto
    rows = [
        T(name="w", dims=[2, 3], data_type=T.FLOAT, float_data=range(6)),
        T(name="n", dims=[3], data_type=T.INT64, int64_data=[1, -2, 1 << 40]),
        T(name="i", dims=[2], data_type=T.INT32, int32_data=[-3, 4]),
        T(name="u", dims=[2], data_type=T.UINT8, int32_data=[1, 200]),
        T(name="t", dims=[2], data_type=T.BOOL, int32_data=[1, 0]),
        T(name="h", dims=[2], data_type=T.FLOAT16, int32_data=[0x3E00, 0xC000]),
        T(name="d", data_type=T.DOUBLE, double_data=[2.5]),
        T(name="s", dims=[3], data_type=T.STRING, string_data=[b"a", b"", b"bc"]),
        T(name="e", dims=[0, 3], data_type=T.FLOAT),
    ]
    yield "caffe2_protos", c2.TensorProtos(protos=rows)
    yield "caffe2_raw", c2.TensorProtos(protos=[T(dims=[2], raw_data=struct.pack("<2f", 1, 2)), T(dims=[2], data_type=T.BYTE, byte_data=b"\x05\x06")])


def main():
    tf, c2 = modules()
    OUT.mkdir(parents=True, exist_ok=True)
    for name, message in [*tensorflow_files(tf), *caffe2_files(c2)]:
        (OUT / f"{name}.pb").write_bytes(message.SerializeToString(deterministic=True))


main()
