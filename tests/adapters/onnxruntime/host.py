"""ONNX Runtime from Python, through ctypes: its C interface is a table of functions, of which the used ones are named by their places.

    runtime = Runtime(library)                   # libonnxruntime.so.1
    runtime.register("libattend_onnxruntime.so") # the plugin, once
    session = runtime.session(model, provider=True, threads=2)
    outputs = session.run({"x": array})          # numpy in and out, in the order of the model's outputs
    session.assignment()                         # who computes which node

What the runtime refuses is raised as an Error with the runtime's own sentence.
"""
import argparse
import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p

import numpy

API_VERSION = 24  # the first that says which provider computes which node
PROVIDER = "AttendExecutionProvider"

# Places in the table of functions, OrtApi of version 24.
PLACES = {
    "GetErrorCode": 1, "GetErrorMessage": 2, "CreateEnv": 3, "CreateSessionFromArray": 8, "Run": 9, "CreateSessionOptions": 10,
    "SetOptimizedModelFilePath": 11, "EnableProfiling": 14, "SetSessionLogSeverityLevel": 22, "SetSessionGraphOptimizationLevel": 23,
    "SetIntraOpNumThreads": 24, "SetInterOpNumThreads": 25, "SessionGetInputCount": 30, "SessionGetOutputCount": 31,
    "SessionGetInputName": 36, "SessionGetOutputName": 37, "CreateTensorWithDataAsOrtValue": 49, "GetTensorMutableData": 51,
    "GetTensorElementType": 60, "GetDimensionsCount": 61, "GetDimensions": 62, "GetTensorTypeAndShape": 65, "CreateCpuMemoryInfo": 69,
    "AllocatorFree": 76, "GetAllocatorWithDefaultOptions": 78, "AddSessionConfigEntry": 130, "RegisterCustomOpsLibrary_V2": 228,
    "RegisterExecutionProviderLibrary": 301, "GetEpDevices": 303, "SessionOptionsAppendExecutionProvider_V2": 304, "EpDevice_EpName": 312,
    "Session_GetEpGraphAssignmentInfo": 407, "EpAssignedSubgraph_GetEpName": 408, "EpAssignedSubgraph_GetNodes": 409,
    "EpAssignedNode_GetName": 410, "EpAssignedNode_GetDomain": 411, "EpAssignedNode_GetOperatorType": 412,
}
# Of all sessions. Threads that wait by spinning would take the processors from what runs beside.
SETTINGS = {"session.record_ep_graph_assignment_info": "1", "session.intra_op.allow_spinning": "0"}
RELEASES = {"Env": 92, "Status": 93, "MemoryInfo": 94, "Session": 95, "Value": 96, "TensorTypeAndShapeInfo": 99, "SessionOptions": 100}
CODES = ["OK", "FAIL", "INVALID_ARGUMENT", "NO_SUCHFILE", "NO_MODEL", "ENGINE_ERROR", "RUNTIME_EXCEPTION", "INVALID_PROTOBUF", "MODEL_LOADED",
         "NOT_IMPLEMENTED", "INVALID_GRAPH", "EP_FAIL"]
# Element types by their numbers in ONNX.
TYPES = {1: numpy.float32, 2: numpy.uint8, 3: numpy.int8, 4: numpy.uint16, 5: numpy.int16, 6: numpy.int32, 7: numpy.int64, 9: numpy.bool_,
         10: numpy.float16, 11: numpy.float64, 12: numpy.uint32, 13: numpy.uint64}
NUMBERS = {numpy.dtype(kind): number for number, kind in TYPES.items()}


class Error(Exception):
    """The runtime's answer where it refuses: code, such as INVALID_ARGUMENT, and its sentence."""

    def __init__(self, code, sentence):
        super().__init__("%s: %s" % (code, sentence))
        self.code, self.sentence = code, sentence


class Api:
    """The table: api.Name(…) calls a function that answers a status and raises where it is one."""

    def __init__(self, path, version=API_VERSION):
        base = ctypes.CDLL(path).OrtGetApiBase
        base.restype = POINTER(c_void_p)
        functions = base()
        self.version = ctypes.CFUNCTYPE(c_char_p)(functions[1])().decode()
        table = ctypes.CFUNCTYPE(POINTER(c_void_p), c_uint32)(functions[0])(version)
        if not table:
            raise Error("NO_API", "ONNX Runtime %s has no interface of version %d" % (self.version, version))
        self.table = table
        self.message = ctypes.CFUNCTYPE(c_char_p, c_void_p)(table[PLACES["GetErrorMessage"]])
        self.code = ctypes.CFUNCTYPE(c_int, c_void_p)(table[PLACES["GetErrorCode"]])

    def __getattr__(self, name):
        call = ctypes.CFUNCTYPE(c_void_p)(self.table[PLACES[name]])

        def checked(*arguments):
            status = call(*arguments)
            if status:
                code, sentence = self.code(c_void_p(status)), self.message(c_void_p(status)).decode(errors="replace")
                self.release("Status", c_void_p(status))
                raise Error(CODES[code] if code < len(CODES) else str(code), sentence)

        setattr(self, name, checked)
        return checked

    def release(self, kind, value):
        ctypes.CFUNCTYPE(None, c_void_p)(self.table[RELEASES[kind]])(value)

    def text(self, name, *arguments):
        """A function whose last argument receives a string of the runtime's."""
        out = c_char_p()
        getattr(self, name)(*arguments, byref(out))
        return (out.value or b"").decode()


class Runtime:
    """One environment of the process, in which plugins are registered."""

    def __init__(self, path):
        self.api = Api(path)
        self.env, self.memory, self.allocator = c_void_p(), c_void_p(), c_void_p()
        self.api.CreateEnv(c_int(4), c_char_p(b"attend"), byref(self.env))  # 4: of the log, what is fatal
        self.api.CreateCpuMemoryInfo(c_int(0), c_int(0), byref(self.memory))
        self.api.GetAllocatorWithDefaultOptions(byref(self.allocator))
        self.custom_operators = None

    def register(self, plugin, name="attend"):
        """Loads a plugin; the path has to be absolute."""
        self.api.RegisterExecutionProviderLibrary(self.env, c_char_p(name.encode()), c_char_p(plugin.encode()))

    def devices(self):
        """Pairs of provider name and device."""
        devices, count = POINTER(c_void_p)(), c_size_t()
        self.api.GetEpDevices(self.env, byref(devices), byref(count))
        name = ctypes.CFUNCTYPE(c_char_p, c_void_p)(self.api.table[PLACES["EpDevice_EpName"]])
        return [(name(devices[i]).decode(), devices[i]) for i in range(count.value)]

    def session(self, model, **options):
        return Session(self, model, **options)


class Session:
    """A model that is ready to run: model is the bytes of a file.

    provider: with the registered plugin; options: its options; custom: path of a library of custom operators; config: entries of the session;
    level: 0, 1, 2 or 99, how much of the graph is rewritten; optimised: a file for the graph as it is after that.
    """

    def __init__(self, runtime, model, provider=False, threads=1, level=99, config=None, options=None, custom=None, optimised=None):
        self.runtime, api = runtime, runtime.api
        self.handle = None
        settings = c_void_p()
        api.CreateSessionOptions(byref(settings))
        try:
            api.SetSessionLogSeverityLevel(settings, c_int(4))
            api.SetIntraOpNumThreads(settings, c_int(threads))
            api.SetSessionGraphOptimizationLevel(settings, c_int(level))
            for key, value in {**SETTINGS, **(config or {})}.items():
                api.AddSessionConfigEntry(settings, c_char_p(key.encode()), c_char_p(value.encode()))
            if optimised:
                api.SetOptimizedModelFilePath(settings, c_char_p(optimised.encode()))
            if custom:
                api.RegisterCustomOpsLibrary_V2(settings, c_char_p(custom.encode()))
            if provider:
                self._append(settings, options or {})
            handle = c_void_p()
            api.CreateSessionFromArray(runtime.env, c_char_p(model), c_size_t(len(model)), settings, byref(handle))
            self.handle = handle
        finally:
            api.release("SessionOptions", settings)
        self.inputs, self.outputs = self._names("Input"), self._names("Output")

    def __del__(self):
        if self.handle:
            self.runtime.api.release("Session", self.handle)

    def _append(self, settings, options):
        ours = [device for name, device in self.runtime.devices() if name == PROVIDER]
        if not ours:
            raise Error("NO_PROVIDER", "no registered plugin offers the provider %s" % PROVIDER)
        keys, values = (c_char_p * len(options))(*[k.encode() for k in options]), (c_char_p * len(options))(*[v.encode() for v in options.values()])
        self.runtime.api.SessionOptionsAppendExecutionProvider_V2(settings, self.runtime.env, (c_void_p * 1)(ours[0]), c_size_t(1), keys, values,
                                                                  c_size_t(len(options)))

    def _names(self, what):
        api, count, names = self.runtime.api, c_size_t(), []
        getattr(api, "SessionGet%sCount" % what)(self.handle, byref(count))
        for i in range(count.value):
            name = c_void_p()
            getattr(api, "SessionGet%sName" % what)(self.handle, c_size_t(i), self.runtime.allocator, byref(name))
            names.append(ctypes.string_at(name).decode())
            api.AllocatorFree(self.runtime.allocator, name)
        return names

    def run(self, inputs):
        """The outputs' arrays, copied. inputs: arrays by name; they need not be contiguous."""
        api, values, kept = self.runtime.api, [], []
        results = (c_void_p * len(self.outputs))()
        try:
            for array in inputs.values():
                array = numpy.asarray(array, order="C")
                value = c_void_p()
                api.CreateTensorWithDataAsOrtValue(self.runtime.memory, c_void_p(array.ctypes.data), c_size_t(array.nbytes),
                                                   (c_int64 * array.ndim)(*array.shape), c_size_t(array.ndim), c_int(NUMBERS[array.dtype]), byref(value))
                values.append(value)
                kept.append(array)
            api.Run(self.handle, None, (c_char_p * len(inputs))(*[n.encode() for n in inputs]), (c_void_p * len(values))(*[v.value for v in values]),
                    c_size_t(len(values)), (c_char_p * len(self.outputs))(*[n.encode() for n in self.outputs]), c_size_t(len(self.outputs)), results)
            return [self._array(c_void_p(value)) for value in results]
        finally:
            for value in values:
                api.release("Value", value)
            for value in results:
                if value:
                    api.release("Value", c_void_p(value))

    def _array(self, value):
        api, info, kind, rank = self.runtime.api, c_void_p(), c_int(), c_size_t()
        api.GetTensorTypeAndShape(value, byref(info))
        try:
            api.GetTensorElementType(info, byref(kind))
            api.GetDimensionsCount(info, byref(rank))
            extents = (c_int64 * rank.value)()
            api.GetDimensions(info, extents, rank)
        finally:
            api.release("TensorTypeAndShapeInfo", info)
        array = numpy.empty(tuple(extents), TYPES[kind.value])
        if array.nbytes:
            data = c_void_p()
            api.GetTensorMutableData(value, byref(data))
            ctypes.memmove(array.ctypes.data, data, array.nbytes)
        return array

    def assignment(self):
        """Triples of provider, operator ("domain.Name", or "Name" of ONNX's own domain) and node name."""
        api, parts, count, found = self.runtime.api, POINTER(c_void_p)(), c_size_t(), []
        api.Session_GetEpGraphAssignmentInfo(self.handle, byref(parts), byref(count))
        for i in range(count.value):
            part, nodes, number = c_void_p(parts[i]), POINTER(c_void_p)(), c_size_t()
            provider = api.text("EpAssignedSubgraph_GetEpName", part)
            api.EpAssignedSubgraph_GetNodes(part, byref(nodes), byref(number))
            for j in range(number.value):
                node = c_void_p(nodes[j])
                domain, kind = api.text("EpAssignedNode_GetDomain", node), api.text("EpAssignedNode_GetOperatorType", node)
                found.append((provider, kind if domain in ("", "ai.onnx") else domain + "." + kind, api.text("EpAssignedNode_GetName", node)))
        return found

    def left(self):
        """The operators that the plugin does not compute."""
        return sorted({kind for provider, kind, _ in self.assignment() if provider != PROVIDER})


def seconds_in_turns(sessions, inputs, rounds, clock):
    """Seconds of so many runs of two sessions, which take turns in one process."""
    times = [[], []]
    for turn in range(rounds + 1):
        for which in (0, 1) if turn % 2 else (1, 0):
            begin = clock()
            sessions[which].run(inputs)
            if turn:  # the first round warms up
                times[which].append(clock() - begin)
    return times


def opened(arguments=None):
    """A program's arguments, of which the first is the runtime's library and --plugin the adapter's; and the runtime with it."""
    arguments = arguments or argparse.ArgumentParser()
    arguments.add_argument("runtime")
    arguments.add_argument("--plugin")
    asked = arguments.parse_args()
    runtime = Runtime(asked.runtime)
    if asked.plugin:
        runtime.register(asked.plugin)
    return asked, runtime
