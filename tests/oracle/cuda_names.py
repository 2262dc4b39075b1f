"""cuda_names.py: what torch.cuda, torch.accelerator and their kin answer on a machine without a driver, and with a device.

Asks PyTorch (a build for CUDA, no driver) each line below and writes a table for tests/data/cuda_names.txt: the line, a
tab, and the answer: TYPE and repr of the value, or the exception's type and text. Warnings are left out. With `device`
it asks the second list, for tests/data/cuda_device.txt, over a pretended runtime with two devices
(pretended_cudart.c): LD_LIBRARY_PATH=DIR LD_PRELOAD=DIR/libcuda.so.1 PRETENDED_DEVICES=2. With `initialized`, over the
same runtime with one device, it says after which calls CUDA is in use, for tests/data/cuda_initialized.txt."""
import os
import sys
import warnings

import torch

warnings.simplefilter("ignore")
LINES = r"""
torch.cuda.is_available()
torch.cuda.device_count()
torch.cuda.is_initialized()
torch.cuda.init()
torch.cuda.current_device()
torch.cuda.set_device(0)
torch.cuda.set_device(-1)
torch.cuda.set_device('cuda:0')
torch.cuda.set_device('cpu')
torch.cuda.set_device(1.5)
torch.cuda.get_device_name()
torch.cuda.get_device_name(0)
torch.cuda.get_device_capability()
torch.cuda.can_device_access_peer(0, 1)
torch.cuda.get_arch_list()
torch.cuda.get_gencode_flags()
torch.cuda.current_stream()
torch.cuda.default_stream()
torch.cuda.synchronize()
torch.cuda.synchronize(0)
torch.cuda.synchronize('cpu')
torch.cuda.ipc_collect()
torch.cuda.is_bf16_supported()
torch.cuda.is_bf16_supported(False)
torch.cuda.is_tf32_supported()
torch.cuda.has_half
torch.cuda.has_magma
torch.cuda.manual_seed(1)
torch.cuda.manual_seed(1.5)
torch.cuda.manual_seed('1')
torch.cuda.manual_seed('x')
torch.cuda.manual_seed()
torch.cuda.manual_seed(seed=3)
torch.cuda.manual_seed(2**70)
torch.cuda.manual_seed_all(1)
torch.cuda.seed()
torch.cuda.seed_all()
torch.cuda.initial_seed()
torch.cuda.get_rng_state()
torch.cuda.get_rng_state_all()
torch.cuda.set_rng_state(torch.zeros(16, dtype=torch.uint8))
torch.cuda.set_rng_state_all([])
torch.cuda.memory_allocated()
torch.cuda.memory_allocated(0)
torch.cuda.memory_allocated('cuda:1')
torch.cuda.memory_allocated('cpu')
torch.cuda.max_memory_allocated()
torch.cuda.memory_reserved()
torch.cuda.max_memory_reserved()
torch.cuda.memory_cached()
torch.cuda.max_memory_cached()
torch.cuda.memory_stats()
torch.cuda.memory_stats_as_nested_dict()
torch.cuda.memory_summary()
torch.cuda.memory_snapshot()
torch.cuda.mem_get_info()
torch.cuda.mem_get_info(0)
torch.cuda.reset_peak_memory_stats()
torch.cuda.reset_accumulated_memory_stats()
torch.cuda.reset_max_memory_allocated()
torch.cuda.reset_max_memory_cached()
torch.cuda.host_memory_stats()
torch.cuda.reset_peak_host_memory_stats()
torch.cuda.reset_accumulated_host_memory_stats()
torch.cuda.empty_cache()
torch.cuda.get_allocator_backend()
torch.cuda.set_per_process_memory_fraction(0.5)
torch.cuda.set_per_process_memory_fraction(2.0)
torch.cuda.set_per_process_memory_fraction('a')
torch.cuda.get_per_process_memory_fraction()
torch.cuda.list_gpu_processes()
torch.cuda.is_current_stream_capturing()
torch.cuda.Stream()
torch.cuda.Stream(0)
torch.cuda.Stream(priority=-1)
torch.cuda.Event()
torch.cuda.Event(enable_timing=True)
torch.cuda.Event().query()
torch.cuda.Event().record()
torch.cuda.Event().wait()
torch.cuda.Event().synchronize()
torch.cuda.Event().elapsed_time(torch.cuda.Event())
torch.cuda.stream(None)
torch.cuda.StreamContext(None)
torch.cuda.stream(torch.cuda.Stream())
torch.cuda.set_stream(None)
torch.cuda.device(0)
torch.cuda.device('cuda')
torch.cuda.device('cpu')
torch.cuda.device(0).__enter__()
torch.cuda.device(-1).__enter__()
torch.cuda.device(None).__enter__()
torch.cuda.device_of(torch.ones(1))
torch.cuda.device_of(torch.ones(1)).__enter__()
torch.cuda.OutOfMemoryError
torch.cuda.AcceleratorError
torch.cuda.FloatTensor(2)
torch.cuda.LongTensor([1])
torch.cuda.device_memory_used()
torch.cuda.utilization()
torch.cuda.memory_usage()
torch.cuda.temperature()
torch.cuda.power_draw()
torch.cuda.clock_rate()
torch.accelerator.is_available()
torch.accelerator.device_count()
torch.accelerator.current_accelerator()
torch.accelerator.current_accelerator(check_available=True)
torch.accelerator.current_device_index()
torch.accelerator.current_device_idx()
torch.accelerator.set_device_index(0)
torch.accelerator.set_device_idx(0)
torch.accelerator.current_stream()
torch.accelerator.synchronize()
torch.accelerator.memory_allocated()
torch.accelerator.max_memory_allocated()
torch.accelerator.memory_reserved()
torch.accelerator.max_memory_reserved()
torch.accelerator.memory_stats()
torch.accelerator.reset_peak_memory_stats()
torch.accelerator.reset_accumulated_memory_stats()
torch.accelerator.get_memory_info()
torch.accelerator.empty_cache()
torch.accelerator.device_index(0)
torch.accelerator.device_index(None)
torch.accelerator.device_index(None).__enter__()
torch.accelerator.device_index(0).__enter__()
torch.Generator('cuda')
torch.Generator(device='cuda:0')
torch.Generator('cpu').device
torch.Generator().device
torch.Generator('meta')
torch.Generator('mps')
torch.ones(2).cuda()
torch.ones(2).to('cuda')
torch.ones(2).cuda(0)
torch.ones(2, device='cuda')
torch.zeros(2).type('torch.cuda.FloatTensor')
torch.zeros(2).type(torch.cuda.FloatTensor)
torch.ones(2).pin_memory()
torch.ones(2).is_pinned()
torch.ones(2, pin_memory=True)
torch.empty(2, pin_memory=True)
torch.tensor([1], pin_memory=True)
torch.ones(2, device='meta').is_pinned()
torch.ones(2, device='meta', pin_memory=True)
torch.ones(2).pin_memory('cpu')
torch.ones(2).to_sparse().pin_memory()
torch.ones(2).untyped_storage().pin_memory()
torch.ones(2).untyped_storage().is_pinned()
torch.ones(2).is_cuda
torch.ones(2).get_device()
torch.ones(2).to('cpu', non_blocking=True)
torch.cuda.amp.autocast(enabled=False)
torch.is_autocast_enabled()
torch.is_autocast_enabled('cuda')
torch.is_autocast_enabled('cpu')
torch.is_autocast_cpu_enabled()
torch.get_autocast_dtype('cuda')
torch.get_autocast_dtype('cpu')
torch.get_autocast_gpu_dtype()
torch.get_autocast_cpu_dtype()
torch.is_autocast_cache_enabled()
torch.amp.is_autocast_available('cuda')
torch.amp.is_autocast_available('cpu')
torch.amp.is_autocast_available('meta')
torch.amp.is_autocast_available('x')
torch.autocast('cuda').__enter__().fast_dtype
torch.autocast('cuda')._enabled
torch.autocast('cpu')._enabled
torch.autocast('cuda', enabled=False)._enabled
torch.autocast()
torch.autocast('x')
torch.autocast(1)
torch.autocast('cpu', dtype=torch.float32)._enabled
torch.cuda.amp.common.amp_definitely_not_available()
torch.Tensor([1.], device='cuda')
torch.Tensor([1.], device='meta')
torch.FloatTensor([1.], device='cuda')
torch.Tensor(2, 3, device='cuda:0')
torch.cuda.nvtx.range_push('a')
torch.cuda.nvtx.range_push(msg='a')
torch.cuda.nvtx.range_push()
torch.cuda.nvtx.range_push(1)
torch.cuda.nvtx.range_push([1, 'a'])
torch.cuda.nvtx.range_push(torch.tensor(1))
torch.cuda.nvtx.range_push(None)
torch.cuda.nvtx.range_push('a', 'b')
torch.cuda.nvtx.range_push('\ud800')
torch.cuda.nvtx.range_pop()
torch.cuda.nvtx.range_pop(1)
torch.cuda.nvtx.range_start('a')
torch.cuda.nvtx.range_start(1)
torch.cuda.nvtx.range_end(0)
torch.cuda.nvtx.range_end(True)
torch.cuda.nvtx.range_end(torch.tensor(3.))
torch.cuda.nvtx.range_end(-1)
torch.cuda.nvtx.range_end(1.5)
torch.cuda.nvtx.range_end('3')
torch.cuda.nvtx.range_end(None)
torch.cuda.nvtx.range_end(2**64)
torch.cuda.nvtx.range_end(2**64 - 1)
torch.cuda.nvtx.range_end()
torch.cuda.nvtx.mark('a')
torch.cuda.nvtx.mark(b'a')
torch.cuda.nvtx.mark(bytearray(b'a'))
torch.cuda.nvtx.mark(1)
torch.cuda.nvtx.range('a')
torch.cuda.nvtx.range()
torch.cuda.nvtx.range(5)
torch.cuda.nvtx.range('{} {}', 1)
torch.cuda.nvtx.range('{}', 1).__enter__()
torch.cuda.nvtx.range('{} {}', 1).__enter__()
torch.cuda.nvtx.range('{} {k}', 1, k=2).__enter__()
torch.cuda.nvtx.range('{}')(len)([1])
torch.cuda.nvtx.range('a')(len)([1])
torch.cuda.nvtx.range('a')(len).__name__
torch.cpu.is_available()
torch.cpu.device_count()
torch.cpu.current_device()
torch.cpu.synchronize()
torch.cpu.set_device(0)
torch.cpu.is_initialized()
torch.get_device_module('cuda').__name__
torch.get_device_module('cpu').__name__
torch.get_device_module().__name__
torch.get_device_module(torch.device('cuda:1')).__name__
torch.get_device_module('meta')
torch.get_device_module(3)
torch.get_device_module('x')
torch.cuda.default_generators
torch.cuda.caching_allocator_alloc(512)
torch.cuda.caching_allocator_alloc(512, 0)
torch.cuda.caching_allocator_alloc(512, 0, 'x')
torch.cuda.caching_allocator_delete(0)
torch.cuda.memory.memory_allocated()
torch.cuda.memory.mem_get_info()
torch.cuda.memory.empty_cache()
torch.cuda.random.manual_seed(1)
torch.cuda.random.get_rng_state()
torch.cuda.random.get_rng_state_all()
torch.cuda.Stream.priority_range()
torch.accelerator.synchronize(0)
torch.accelerator.set_device_index('cpu')
torch.accelerator.set_device_index('cuda:0')
torch.accelerator.set_device_index(-1)
torch.accelerator.set_device_index(None)
torch.accelerator.device_index('cuda')
torch.accelerator.empty_host_cache()
torch.accelerator.get_memory_info(0)
torch.accelerator.memory_stats(0)
torch.accelerator.memory_allocated('cuda:0')
torch.accelerator.memory_reserved(5)
torch.accelerator.current_stream(0)
torch.backends.cuda.flash_sdp_enabled()
torch.backends.cuda.mem_efficient_sdp_enabled()
torch.backends.cuda.math_sdp_enabled()
torch.backends.cuda.cudnn_sdp_enabled()
torch.backends.cuda.enable_flash_sdp(False)
torch.backends.cuda.flash_sdp_enabled()
torch.backends.cuda.enable_flash_sdp(True)
torch.backends.cuda.enable_flash_sdp(1)
torch.backends.cuda.enable_mem_efficient_sdp(1)
torch.backends.cuda.enable_math_sdp(1)
torch.backends.cuda.enable_cudnn_sdp(1)
torch.backends.cuda.matmul.allow_tf32
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction
torch.backends.cuda.matmul.allow_fp16_accumulation
torch.backends.cudnn.benchmark_limit
torch.cuda.get_device_properties()
torch.cuda.get_device_properties(0)
torch.cuda.get_device_properties('cpu')
torch.cuda.set_sync_debug_mode(0)
torch.cuda.set_sync_debug_mode('warn')
torch.cuda.set_sync_debug_mode('x')
torch.cuda.set_sync_debug_mode(5)
torch.cuda.get_sync_debug_mode()
torch.Stream()
torch.Stream('cuda')
torch.Stream(device='cuda:0')
torch.Stream('cpu')
torch.Stream(0)
torch.Stream(device='cuda', priority=-1)
torch.Stream(stream_id=0, device_index=0, device_type=1)
torch.Event()
torch.Event('cuda')
torch.Event(device='cuda:0')
torch.Event('cpu')
torch.Event(0)
torch.Event(enable_timing=True)
torch.Event().query()
torch.Event().record()
torch.Event().wait()
torch.Event().synchronize()
torch.Event().event_id
torch.Event().device
torch.Event().elapsed_time(torch.Event())
torch.cuda.ExternalStream(0)
torch.cuda.ExternalStream(1, device=0)
torch.cuda.get_stream_from_external(0)
torch.cuda.get_stream_from_external(1, 0)
torch.cuda.caching_allocator_enable()
torch.cuda.caching_allocator_enable(False)
torch.accelerator.get_device_capability()
torch.accelerator.get_device_capability(0)
torch.cuda.comm.broadcast(torch.ones(2), [0])
torch.cuda.comm.scatter(torch.ones(2), [0])
torch.cuda.comm.gather([torch.ones(2)])
torch.cuda.comm.reduce_add([torch.ones(2)])
torch.cuda.comm.broadcast_coalesced([torch.ones(2)], [0])
torch.cuda.streams.ExternalStream(0)
torch.cuda.memory.memory_snapshot()
torch.cuda.Event(blocking=True, interprocess=True)
torch.cuda.Stream(stream_id=0, device_index=0, device_type=1)
torch.cuda.current_stream(0)
torch.cuda.default_stream(0)
torch.cuda.mem_get_info('cuda')
torch.backends.cudnn.enabled
torch.backends.cudnn.deterministic
torch.backends.cudnn.allow_tf32
torch.get_float32_matmul_precision()
torch.ones(2).record_stream(None)
torch.ones(2).record_stream(torch.cuda.Stream)
torch.ones(2).cuda(non_blocking=True)
torch.ones(2).to(torch.device('cuda', 1))
torch.ones(2).to(0)
torch.ones(2).cuda('cpu')
torch.device(0)
torch.device('cuda', 0)
torch.device(1)
torch.device('cuda:-1')
torch.empty(0, device='cuda')
torch.tensor(1., device=0)
isinstance(torch.ones(1), torch.cuda.FloatTensor)
torch.random.fork_rng().__enter__()
torch.get_device_module('cuda').is_available()
torch.cuda.utilization(0)
torch.cuda.list_gpu_processes(0)
torch.UntypedStorage(3, device='cuda')
torch.ones(2).storage().is_cuda
torch.AcceleratorError
torch.OutOfMemoryError
torch.AcceleratorError('x')
torch.OutOfMemoryError('x')
torch.asarray([1], device='cuda')
torch.as_tensor([1], device='cuda')
torch.arange(3).cuda().cpu()
torch.Generator('cuda').manual_seed(1)
torch.get_rng_state().shape
torch.cuda.set_rng_state(torch.zeros(16, dtype=torch.uint8), 'cuda:0')
torch.default_generator.device
torch.cuda._current_device
torch.ones(1).is_pinned(device='cpu')
torch.ones(1).pin_memory('cuda')
torch.cuda.mem_get_info('cpu')
torch.set_default_tensor_type('torch.cuda.FloatTensor')
torch.ones(1).dtype
torch.set_default_tensor_type('torch.cuda.LongTensor')
torch.set_default_tensor_type('torch.cuda.XTensor')
torch.set_default_tensor_type('torch.FloatTensor')
torch.ones(1).dtype
"""

DEVICE_LINES = r"""
torch.cuda.is_available()
torch.cuda.init()
torch.cuda.device_count()
torch.cuda.current_device()
torch.cuda.set_device(1)
torch.cuda.current_device()
torch.cuda.set_device('cuda:0')
torch.cuda.set_device(2)
torch.cuda.set_device(-1)
torch.cuda.set_device('cpu')
torch.cuda.get_device_name()
torch.cuda.get_device_name(1)
torch.cuda.get_device_name(5)
torch.cuda.get_device_name('cpu')
torch.cuda.get_device_capability()
torch.cuda.get_device_capability('cuda:1')
torch.cuda.get_device_properties()
torch.cuda.get_device_properties(1).name
torch.cuda.get_device_properties('cuda').total_memory
torch.cuda.get_device_properties(0).multi_processor_count
torch.cuda.get_device_properties(0).major
torch.cuda.get_device_properties(0).warp_size
torch.cuda.get_device_properties(0).max_threads_per_multi_processor
torch.cuda.get_device_properties(0).is_integrated
torch.cuda.get_device_properties(0).is_multi_gpu_board
torch.cuda.get_device_properties(0).L2_cache_size
torch.cuda.get_device_properties(0).pci_bus_id
torch.cuda.get_device_properties(0).pci_device_id
torch.cuda.get_device_properties(0).pci_domain_id
torch.cuda.get_device_properties(0).gcnArchName
torch.cuda.get_device_properties(0).regs_per_multiprocessor
torch.cuda.get_device_properties(0).shared_memory_per_block
torch.cuda.get_device_properties(0).shared_memory_per_block_optin
torch.cuda.get_device_properties(0).shared_memory_per_multiprocessor
torch.cuda.get_device_properties(0).max_threads_per_block
torch.cuda.get_device_properties(0).clock_rate
torch.cuda.get_device_properties(0).memory_clock_rate
torch.cuda.get_device_properties(0).memory_bus_width
str(torch.cuda.get_device_properties(0).uuid)
torch.cuda.get_device_properties(2)
torch.cuda.get_device_properties('cpu')
torch.cuda.can_device_access_peer(0, 1)
torch.cuda.can_device_access_peer(0, 0)
torch.cuda.can_device_access_peer(0, 5)
torch.cuda.can_device_access_peer(5, 0)
torch.cuda.is_bf16_supported()
torch.cuda.is_bf16_supported(False)
torch.cuda.is_tf32_supported()
torch.cuda.current_stream()
torch.cuda.current_stream(1)
torch.cuda.current_stream('cpu')
torch.cuda.current_stream().stream_id
torch.cuda.current_stream().device
torch.cuda.current_stream().device_index
torch.cuda.current_stream().device_type
torch.cuda.current_stream().cuda_stream
torch.cuda.current_stream().priority
torch.cuda.current_stream().query()
torch.cuda.current_stream().synchronize()
torch.cuda.current_stream() == torch.cuda.default_stream()
torch.cuda.current_stream() == torch.cuda.default_stream(1)
torch.cuda.Stream().stream_id
torch.cuda.Stream().stream_id
torch.cuda.Stream(priority=-1).stream_id
torch.cuda.Stream(priority=-9).stream_id
torch.cuda.Stream(priority=-9).priority
torch.cuda.Stream(priority=-3).priority
torch.cuda.Stream(priority=-5).stream_id
torch.cuda.Stream(priority=3).stream_id
torch.cuda.Stream(1).device
torch.cuda.Stream('cuda:1').stream_id
torch.cuda.Stream('cpu')
torch.cuda.Stream.priority_range()
torch.cuda.Stream(stream_id=3, device_index=0, device_type=1).stream_id
torch.cuda.Stream(stream_id=3, device_index=0, device_type=1) == torch.cuda.Stream(stream_id=3, device_index=1, device_type=1)
hash(torch.cuda.Stream(stream_id=3, device_index=0, device_type=1)) == hash(torch.cuda.Stream(stream_id=3, device_index=0, device_type=1))
torch.cuda.Stream().wait_stream(torch.cuda.current_stream())
torch.cuda.Stream().wait_event(torch.cuda.Event())
torch.cuda.Stream().record_event().query()
torch.cuda.Stream().wait_event(3)
torch.cuda.Stream().record_event(3)
isinstance(torch.cuda.Stream(), torch.Stream)
isinstance(torch.cuda.Event(), torch.Event)
torch.cuda.Event()
torch.cuda.Event().query()
torch.cuda.Event().synchronize()
torch.cuda.Event().wait()
torch.cuda.Event().device
torch.cuda.Event().cuda_event
torch.cuda.Event().record()
torch.cuda.Event().elapsed_time(torch.cuda.Event())
torch.cuda.Event(enable_timing=True).elapsed_time(torch.cuda.Event(enable_timing=True))
torch.cuda.Event(enable_timing=True).elapsed_time(3)
torch.cuda.Event().record(3)
torch.Stream()
torch.Stream('cuda:1')
torch.Stream(device='cuda', priority=-1).stream_id
torch.Stream('cpu')
torch.Stream('meta')
torch.Stream(0)
torch.Stream(stream_id=0, device_index=0, device_type=1)
torch.Stream(device='cuda').device
torch.Stream(device='cuda').query()
torch.Stream(device='cuda').synchronize()
torch.Stream('cpu').query()
torch.Stream('cpu').synchronize()
torch.Stream('cpu').record_event()
torch.Stream(device='cuda').wait_stream(torch.Stream(device='cuda'))
torch.Stream(device='cuda').record_event().query()
torch.Stream(device='cuda') == torch.Stream(device='cuda')
torch.Stream(stream_id=3, device_index=0, device_type=1) == torch.Stream(stream_id=3, device_index=0, device_type=1)
torch.Stream(stream_id=3, device_index=0, device_type=1) == torch.cuda.Stream(stream_id=3, device_index=0, device_type=1)
torch.Stream(stream_id=3, device_index=0, device_type=1).device_index
torch.Stream(stream_id=3, device_index=0, device_type=1).device_type
torch.Event()
torch.Event('cuda')
torch.Event(enable_timing=True)
torch.Event(device='cuda:1').device
torch.Event('cpu')
torch.Event('cpu').record()
torch.Event('meta')
torch.Event().query()
torch.Event().record()
torch.Event().wait()
torch.Event().synchronize()
torch.Event().elapsed_time(torch.Event())
torch.Event(enable_timing=True).elapsed_time(torch.Event(enable_timing=True))
torch.accelerator.current_stream()
torch.accelerator.current_stream(1)
torch.accelerator.current_accelerator()
torch.accelerator.current_device_index()
torch.accelerator.device_count()
torch.accelerator.set_device_index(1)
torch.accelerator.current_device_index()
torch.accelerator.set_device_index('cuda:0')
torch.accelerator.set_device_index(7)
torch.accelerator.get_device_capability()
torch.accelerator.synchronize()
torch.accelerator.synchronize(1)
torch.accelerator.synchronize(9)
torch.accelerator.memory_allocated(1)
torch.accelerator.device_index(1).__enter__()
torch.accelerator.set_device_index(0)
torch.accelerator.set_stream(torch.Stream(stream_id=3, device_index=0, device_type=1))
torch.cuda.current_stream().stream_id
torch.cuda.set_stream(torch.cuda.default_stream())
torch.cuda.synchronize()
torch.cuda.synchronize(1)
torch.cuda.synchronize(2)
torch.cuda.synchronize('cpu')
torch.cuda.get_sync_debug_mode()
torch.cuda.set_sync_debug_mode('warn')
torch.cuda.get_sync_debug_mode()
torch.cuda.set_sync_debug_mode('error')
torch.empty(1, device='cuda').cpu()
torch.empty(1, device='cuda').item()
torch.empty(1, device='cuda').tolist()
torch.ones(1).cuda().shape
torch.ones(1).pin_memory().cuda(non_blocking=True).shape
torch.empty(1, device='cuda').to('cpu', non_blocking=True).shape
torch.empty(1, device='cuda').to('cuda:1').shape
torch.cuda.synchronize()
torch.cuda.current_stream().synchronize()
torch.cuda.set_sync_debug_mode(0)
torch.cuda.set_sync_debug_mode('x')
torch.cuda.set_sync_debug_mode(5)
torch.cuda.set_sync_debug_mode(1.5)
torch.cuda.set_sync_debug_mode('default')
torch.cuda.get_sync_debug_mode()
torch.cuda.ExternalStream(0)
torch.cuda.ExternalStream(0).stream_id
torch.cuda.get_stream_from_external(0)
torch.cuda.get_stream_from_external(0, 1)
torch.cuda.ExternalStream(torch.cuda.Stream(stream_id=3, device_index=0, device_type=1).cuda_stream).stream_id == torch.cuda.Stream(stream_id=3, device_index=0, device_type=1).cuda_stream
torch.cuda.ExternalStream(torch.cuda.Stream(stream_id=3, device_index=0, device_type=1).cuda_stream) == torch.cuda.Stream(stream_id=3, device_index=0, device_type=1)
torch.cuda.ExternalStream('x')
torch.cuda.mem_get_info()
torch.cuda.mem_get_info(1)
torch.cuda.mem_get_info(2)
torch.cuda.memory_allocated('cpu')
torch.cuda.memory_summary(1)
torch.cuda.memory_summary(1, True)
torch.empty(10**12, device='cuda')
torch.empty(300 << 20, dtype=torch.uint8, device='cuda')
torch.empty(300 << 20, dtype=torch.uint8, device='cuda:1')
torch.empty(2**62, device='cuda')
torch.cuda.set_per_process_memory_fraction(0.5)
torch.cuda.get_per_process_memory_fraction()
torch.empty(200 << 20, dtype=torch.uint8, device='cuda')
torch.cuda.set_per_process_memory_fraction(1.0)
torch.cuda.set_per_process_memory_fraction(1)
torch.cuda.set_per_process_memory_fraction(-1.0)
torch.cuda.caching_allocator_alloc(0)
torch.cuda.caching_allocator_alloc(512, 'cpu')
torch.cuda.caching_allocator_alloc(512, 0, 'x')
torch.cuda.caching_allocator_delete(1)
torch.empty(7, device='cuda').shape
torch.cuda.caching_allocator_enable(True)
torch.cuda.caching_allocator_enable(1)
torch.cuda.caching_allocator_enable()
torch.cuda.get_allocator_backend()
torch.cuda.get_rng_state().shape
torch.cuda.manual_seed(5)
torch.cuda.get_rng_state()
torch.cuda.get_rng_state(1).shape
torch.cuda.get_rng_state('cuda:1').shape
torch.cuda.set_rng_state(torch.zeros(16, dtype=torch.uint8))
torch.cuda.get_rng_state()
torch.cuda.set_rng_state(torch.zeros(8, dtype=torch.uint8))
torch.cuda.set_rng_state(torch.ones(8, dtype=torch.uint8))
torch.cuda.get_rng_state()
torch.cuda.set_rng_state(torch.zeros(5, dtype=torch.uint8))
torch.cuda.set_rng_state(torch.zeros(16))
torch.cuda.initial_seed()
torch.Generator('cuda:1').device
torch.Generator('cuda').initial_seed()
torch.Generator('cuda').manual_seed(7).initial_seed()
torch.Generator('cuda').get_state()
torch.Generator('cuda').manual_seed(7).set_state(torch.zeros(3, dtype=torch.uint8))
torch.Generator('cuda').set_state(torch.Generator().get_state())
torch.rand(2, device='cuda', generator=torch.Generator())
torch.rand(2, generator=torch.Generator('cuda'))
torch.randn(2, generator=torch.Generator('cuda'))
torch.randperm(3, device='cuda', generator=torch.Generator())
torch.empty(2, device='cuda').uniform_(generator=torch.Generator('cuda:1')).shape
torch.multinomial(torch.ones(2), 1, generator=torch.Generator('cuda'))
torch.bernoulli(torch.ones(2), generator=torch.Generator('cuda'))
torch.ones(2, device='cuda').device
torch.ones(2, device='cuda:1').device
torch.ones(2, device='cuda:2')
torch.ones(2, device=1).device
torch.ones(2).cuda(1).device
torch.ones(2).cuda(2)
torch.ones(2).cuda('cpu')
torch.ones(2).cuda(torch.device('cuda:1')).device
torch.ones(2).to('cuda:1').device
torch.ones(2, device='cuda').get_device()
torch.ones(2, device='cuda').is_cuda
torch.ones(2, device='cuda').type()
torch.ones(2, device='cuda').long().type()
torch.ones(2, device='cuda').storage().type()
torch.ones(2, device='cuda').untyped_storage().device
torch.ones(2, device='cuda').untyped_storage().type()
torch.ones(2, device='cuda').untyped_storage().nbytes()
torch.ones(2, device='cuda').pin_memory()
torch.ones(2, device='cuda').is_shared()
torch.ones(2, device='cuda').record_stream(torch.cuda.current_stream())
torch.ones(2, device='cuda').record_stream(torch.Stream())
torch.ones(2, device='cuda').record_stream(3)
torch.ones(2, device='cuda').cuda() is None
torch.ones(2, device='cuda').data_ptr() % 512
torch.cuda.FloatTensor(2).device
torch.cuda.FloatTensor(2).type()
torch.cuda.LongTensor(2, 3).shape
torch.cuda.FloatTensor([1, 2])
isinstance(torch.ones(1).cuda(), torch.cuda.FloatTensor)
isinstance(torch.ones(1).cuda(), torch.FloatTensor)
isinstance(torch.ones(1), torch.cuda.FloatTensor)
torch.ones(2).type('torch.cuda.FloatTensor').device
torch.ones(2).type(torch.cuda.HalfTensor).type()
torch.ones(2, device='cuda').type('torch.FloatTensor').device
torch.ones(2, device='cuda').type(torch.float64).device
torch.set_default_tensor_type('torch.cuda.FloatTensor')
torch.empty(1).device
torch.tensor(1.).device
torch.tensor([1]).device
torch.get_default_dtype()
torch.get_default_device()
torch.arange(3).device
torch.set_default_tensor_type(torch.cuda.DoubleTensor)
torch.empty(1).type()
torch.empty(1, device='cpu').type()
torch.set_default_tensor_type(torch.FloatTensor)
torch.empty(1).type()
torch.set_default_tensor_type('torch.cuda.LongTensor')
torch.set_default_tensor_type('torch.cuda.XTensor')
torch.set_default_device('cuda:1')
torch.empty(1).device
torch.get_default_device()
torch.set_default_device(None)
torch.set_default_device('cuda')
torch.empty(1).device
torch.set_default_device('cpu')
torch.set_default_device(None)
torch.set_default_device(None)
torch.cuda.device(1).__enter__()
torch.cuda.set_device(0)
torch.cuda.device('cpu')
torch.cuda.device(7).__enter__()
torch.cuda.device_of(torch.ones(1)).idx
torch.cuda.device_of(torch.ones(1, device='cuda:1')).idx
torch.ones(2, device='cuda') + torch.ones(2)
torch.ones(2) + torch.ones(2, device='cuda')
torch.ones(2, device='cuda') + torch.ones(2, device='cuda:1')
torch.add(torch.ones(2, device='cuda'), torch.tensor(1.)).shape
torch.add(torch.tensor(1.), torch.ones(2, device='cuda')).shape
torch.tensor(1., device='cuda') + torch.ones(2)
torch.add(torch.ones(2), torch.ones(2), out=torch.ones(2, device='cuda'))
torch.ones(2).add_(torch.ones(2, device='cuda'))
torch.ones(2, device='cuda').add_(torch.ones(2))
torch.mm(torch.ones(2, 2), torch.ones(2, 2, device='cuda'))
torch.mm(torch.ones(2, 2, device='cuda'), torch.ones(2, 2))
torch.bmm(torch.ones(1, 2, 2, device='cuda'), torch.ones(1, 2, 2))
torch.addmm(torch.ones(2), torch.ones(2, 2, device='cuda'), torch.ones(2, 2))
torch.cat([torch.ones(2, device='cuda'), torch.ones(2)])
torch.cat([torch.ones(2), torch.ones(2, device='cuda')])
torch.where(torch.ones(2, device='cuda') > 0, torch.ones(2), torch.ones(2))
torch.where(torch.ones(2) > 0, torch.ones(2, device='cuda'), torch.ones(2))
torch.gather(torch.ones(2, device='cuda'), 0, torch.tensor([0]))
torch.ones(2).index_add(0, torch.tensor([0]), torch.ones(1, device='cuda'))
torch.lerp(torch.ones(2), torch.ones(2, device='cuda'), 0.5)
torch.addcmul(torch.ones(2), torch.ones(2), torch.ones(2, device='cuda'))
torch.allclose(torch.ones(2), torch.ones(2, device='cuda'))
torch.eq(torch.ones(2), torch.ones(2, device='cuda'))
torch.ones(2) == torch.ones(2, device='cuda')
torch.ones(2)[torch.tensor([0], device='cuda')]
torch.ones(2, device='cuda')[torch.tensor([0], device='cuda:1')]
torch.broadcast_tensors(torch.ones(2), torch.ones(2, device='cuda'))[1].device
torch.ones(2).copy_(torch.ones(2, device='cuda')).device
torch.ones(2).set_(torch.ones(2, device='cuda'))
torch.ones(2).expand_as(torch.ones(2, 2, device='cuda')).device
torch.ones_like(torch.ones(2, device='cuda')).device
torch.ones(2).new_ones(2, device='cuda').device
torch.ones(2, device='cuda').new_tensor([1]).device
torch.as_tensor(torch.ones(2), device='cuda').device
torch.asarray(torch.ones(2), device='cuda:1').device
torch.UntypedStorage(3, device='cuda').device
torch.ones(2).untyped_storage().cuda().device
torch.ones(2, device='cuda').untyped_storage().cpu().device
torch.empty(0, device='cuda').shape
torch.cuda.is_current_stream_capturing()
torch.cuda.ipc_collect()
torch.cuda.empty_cache()
torch.cuda.reset_peak_memory_stats('cpu')
torch.cuda.reset_accumulated_memory_stats()
torch.get_device_module().__name__
torch.Stream('cpu').wait_event(torch.Event('cpu'))
torch.Stream('cpu').wait_stream(torch.Stream('cpu'))
torch.Stream('cpu').__enter__()
torch.Stream('cpu').native_handle
torch.Stream('cpu').device
torch.Stream('cpu').device_type
torch.Stream('cpu') == torch.Stream('cpu')
torch.Stream('meta').query()
torch.Stream('meta').synchronize()
torch.Stream('meta').record_event()
torch.Stream('x')
torch.Stream(stream_id=3)
torch.Stream(device='cuda', stream_id=3)
torch.Stream(device='cuda:7')
torch.Stream(device='cuda').wait_event(torch.Event())
torch.Stream(device='cuda').wait_event(torch.cuda.Event())
torch.Stream(device='cuda').wait_stream(torch.Stream('cpu'))
torch.Stream(device='cuda').record_event(torch.cuda.Event())
torch.Stream(device='cuda').record_event(3)
torch.Stream(device='cuda').record_event(torch.Event('cpu'))
torch.Stream(device='cuda') == 3
torch.Stream(device='cuda') != 3
torch.Stream(stream_id=3, device_index=0, device_type=1).__enter__()
torch.cuda.current_stream().stream_id
torch.cuda.set_stream(torch.cuda.default_stream())
torch.cuda.set_stream(torch.Stream(stream_id=3, device_index=0, device_type=1))
torch.cuda.set_stream(torch.cuda.default_stream())
torch.cuda.set_stream(3)
torch.cuda.stream(torch.Stream()).__enter__()
torch.cuda.set_stream(torch.cuda.default_stream())
torch.Event('cpu').query()
torch.Event('cpu').synchronize()
torch.Event('cpu').wait()
torch.Event('cpu').event_id
torch.Event('cpu').device
torch.Event('x')
torch.Event(device='cuda', blocking=True)
torch.Event(device='cuda', interprocess=True)
torch.Event(device='cuda', enable_timing=True, blocking=True)
torch.Event(device='cuda:1').record(torch.Stream('cuda:1'))
torch.Event().record(torch.Stream('cpu'))
torch.Event().record(torch.cuda.Stream())
torch.Event().wait(torch.Stream())
torch.Event().elapsed_time(3)
torch.Event().elapsed_time(torch.cuda.Event())
torch.cuda.Event().record(torch.Stream())
torch.cuda.Event().wait(torch.Stream())
torch.cuda.Event().event_id
torch.cuda.Event(True, True, True)
torch.cuda.Event(foo=1)
torch.cuda.Stream(priority='x')
torch.cuda.Stream() == 3
torch.cuda.Stream().wait_stream(torch.Stream())
torch.accelerator.set_stream(torch.cuda.Stream())
torch.cuda.set_stream(torch.cuda.default_stream())
torch.accelerator.current_stream('cuda:0')
torch.accelerator.get_device_capability(0)
torch.accelerator.get_device_capability(9)
torch.cuda.get_device_properties(-1)
torch.cuda.get_device_properties(None).name
torch.cuda.get_device_properties('x')
torch.cuda.get_device_properties(0) == torch.cuda.get_device_properties(0)
torch.cuda.caching_allocator_enable(1)
torch.cuda.memory_stats()['num_device_alloc']
torch.cuda.caching_allocator_enable()
torch.cuda.caching_allocator_enable()
torch.set_default_tensor_type('x')
torch.set_default_tensor_type('torch.X')
torch.set_default_tensor_type('torch.cuda')
torch.set_default_tensor_type(torch.cuda.HalfTensor)
torch.set_default_tensor_type('torch.cuda.BFloat16Tensor')
torch.get_default_dtype()
torch.set_default_tensor_type('torch.FloatTensor')
torch.set_default_tensor_type(torch.Tensor)
torch.set_default_tensor_type('torch.LongTensor')
torch.ones(2).cuda(-1).device
torch.ones(2).cuda(None).device
torch.ones(2).cuda('x')
torch.ones(2, device='cuda').storage().is_cuda
torch.ones(2, device='cuda').untyped_storage().is_cuda
torch.ones(2, device='cuda').storage().device
torch.ones(2, device='cuda').is_shared()
torch.ones(2, device='cuda').untyped_storage().is_shared()
torch.ones(2, device='cuda').share_memory_().device
torch.ones(2).storage().cuda().type()
torch.cuda.is_current_stream_capturing()
"""

# After which of these is torch.cuda.is_initialized()?
CALLS = r"""
torch.cuda.is_available()
torch.cuda.device_count()
torch.cuda.current_device()
torch.cuda.set_device(0)
torch.cuda.memory_stats()
torch.cuda.reset_peak_memory_stats()
torch.cuda.reset_accumulated_memory_stats()
torch.cuda.host_memory_stats()
torch.cuda.reset_peak_host_memory_stats()
torch.cuda.memory_summary()
torch.cuda.memory_snapshot()
torch.cuda.mem_get_info()
torch.cuda.empty_cache()
torch.cuda.manual_seed(1)
torch.manual_seed(1)
torch.cuda.seed()
torch.cuda.initial_seed()
torch.cuda.get_rng_state()
torch.cuda.set_rng_state(torch.zeros(16,dtype=torch.uint8))
torch.Generator('cuda')
torch.cuda.default_generators
torch.cuda.current_stream()
torch.cuda.default_stream()
torch.cuda.Stream()
torch.cuda.Event()
torch.cuda.synchronize()
torch.cuda.get_device_name()
torch.cuda.get_device_capability()
torch.cuda.get_device_properties(0)
torch.cuda.can_device_access_peer(0,1)
torch.cuda.get_arch_list()
torch.cuda.is_bf16_supported()
torch.cuda.set_per_process_memory_fraction(0.5)
torch.cuda.get_sync_debug_mode()
torch.cuda.is_current_stream_capturing()
torch.empty(1,device='cuda')
torch.ones(1).pin_memory()
torch.device('cuda:0')
torch.set_default_device('cuda')
torch.accelerator.current_accelerator()
torch.accelerator.device_count()
torch.accelerator.current_device_index()
torch.accelerator.current_stream()
torch.accelerator.synchronize()
torch.cuda.device(0).__enter__()
torch.cuda.ipc_collect()
torch.cuda.get_allocator_backend()
torch.cuda.caching_allocator_enable(False)
torch.cuda.init()
torch.ones(1).is_pinned()
torch.cuda.memory.get_per_process_memory_fraction()
torch.cuda.stream(None).__enter__()
"""


def initialized():
    for line in CALLS.strip().splitlines():
        pid = os.fork()
        if pid == 0:
            answer(line)
            print(line, torch.cuda.is_initialized(), sep="\t", flush=True)
            os._exit(0)
        os.waitpid(pid, 0)


def answer(line):
    try:
        value = eval(line)
    except BaseException as error:
        return f"{type(error).__module__}.{type(error).__name__}: {error}"
    return f"{type(value).__name__} {value!r}"


def main():
    if sys.argv[1:] == ["initialized"]:
        return initialized()
    lines = DEVICE_LINES if sys.argv[1:] == ["device"] else LINES
    for line in lines.strip().splitlines():
        text = answer(line).replace("\\", "\\\\").replace("\n", "\\n")
        print(line + "\t" + text)


if __name__ == "__main__":
    main()
