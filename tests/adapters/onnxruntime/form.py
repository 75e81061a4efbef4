"""A form of a node: one that its operator's specification allows, with inputs, and what it puts out."""
import zlib

import numpy

import model

FORMS = []
CRASHES = "ends the process"  # of shipped kernels, which are not run then


class Form:
    """kind, domain, opset, attributes: the operator. inputs: arrays by name, None where an optional one is absent. results: for each output a
    Result, or None where the node does not have it. constants: inputs that are weights of the model. left: why the plugin leaves such a node
    to the shipped kernels, or None where it has to take it. shipped: what the shipped kernel gets wrong, or None."""

    def __init__(self, name, kind, inputs, results, attributes=None, domain="", opset=model.OPSET, constants=(), free=True, left=None, shipped=None):
        self.name, self.kind, self.inputs, self.results, self.shipped = name, kind, inputs, results, shipped
        self.attributes, self.domain, self.opset, self.constants, self.free, self.left = attributes or {}, domain, opset, constants, free, left

    def operator(self):
        return (self.domain + "." if self.domain else "") + self.kind

    def model(self):
        return model.one_node(self.kind, self.inputs, [r is not None for r in self.results], self.attributes, self.domain, self.opset, self.constants,
                              self.free)

    def fed(self):
        return {n: a for n, a in self.inputs.items() if a is not None and n not in self.constants}

    def wrong(self, outputs, shipped):
        """A sentence about the first output that is wrong, or None."""
        for i, (result, found) in enumerate(zip([r for r in self.results if r is not None], outputs)):
            error = result.error(found, shipped)
            if error:
                return "output %d: %s" % (i, error)
        return None


def form(name, kind, inputs, results, **options):
    """Adds one; results: one Result or a list."""
    FORMS.append(Form("%s%s: %s" % (kind, "-%d" % options["opset"] if "opset" in options else "", name), kind, inputs,
                      results if isinstance(results, list) else [results], **options))


class Numbers:
    """Random numbers that depend on a name alone."""

    def __init__(self, name):
        self.random = numpy.random.default_rng(zlib.crc32(name.encode()))

    def normal(self, *shape, scale=1.0, kind=numpy.float32):
        return (self.random.standard_normal(shape) * scale).astype(kind)

    def whole(self, low, high, *shape, kind=numpy.int64):
        """Whole numbers from low to high - 1."""
        return self.random.integers(low, high, shape).astype(kind)

    def chosen(self, *shape, share=0.7):
        """Booleans of which the first of each row is true."""
        mask = self.random.random(shape) < share
        mask[..., 0] = True
        return mask
