// The same library from C++: a reference that is owned is a std::unique_ptr, an error an exception.
//     c++ owned.cpp $(pkg-config --cflags --libs tsr) && ./a.out
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <tsr/tsr.h>

namespace {

struct Free {
    void operator()(TsrTensor *t) const { tsr_tensor_free(t); }
};
using Tensor = std::unique_ptr<TsrTensor, Free>;

void check(TsrStatus status) {
    if (status != TSR_OK) throw std::runtime_error(tsr_error_message());
}

Tensor zeros(int64_t rows, int64_t columns) {
    TsrTensor *t = nullptr;
    const int64_t sizes[] = {rows, columns};
    check(tsr_tensor_new(&t, 2, sizes, TSR_FLOAT32, TSR_DEVICE_CPU));
    Tensor owned(t);
    check(tsr_tensor_fill(t, tsr_scalar_float(0)));
    return owned;
}

Tensor row(const Tensor &x, int64_t index) {
    TsrTensor *t = nullptr;
    check(tsr_tensor_new_select(&t, x.get(), 0, index));
    return Tensor(t);
}

Tensor sum(const Tensor &x) {
    TsrTensor *t = nullptr;
    check(tsr_invoke_new(&t, 1, "sum", "t", x.get()));
    return Tensor(t);
}

void show(const Tensor &x) {
    TsrText text = {};
    TsrStatus status = tsr_print_tensor(&text, x.get(), 0);
    if (status == TSR_OK) std::puts(text.data);
    tsr_text_free(&text);
    check(status);
}

} // namespace

int main() {
    try {
        Tensor x = zeros(2, 3);
        check(tsr_tensor_fill(row(x, 1).get(), tsr_scalar_float(7))); // x sees it
        show(x);
        show(sum(x));
        row(x, 2);
    } catch (const std::exception &error) { std::printf("%s: %s\n", tsr_status_name(tsr_error_kind()), error.what()); }
}
