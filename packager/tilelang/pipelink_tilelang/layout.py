"""From the element that each (thread, value) reads to a layout in CuTe's shape:stride."""
from . import Refused


def _mode(values, what):
    """[(extent, stride), …] of a function of 0 … n-1 that is a layout's mode."""
    factors, step, count = [], 1, len(values)
    while step < count:
        stride, extent = values[step] - values[0], 1
        while step * extent < count and values[step * extent] - values[0] == extent * stride:
            extent += 1
        if count % (step * extent) != 0:
            raise Refused(f"the {what} follow no shape:stride")
        factors.append((extent, stride))
        step *= extent
    position = [0] * count
    for i in range(count):
        rest = i
        for extent, stride in factors:
            position[i] += rest % extent * stride
            rest //= extent
    if position != [value - values[0] for value in values]:
        raise Refused(f"the {what} follow no shape:stride")
    return factors or [(1, 0)]


def _tuple(numbers):
    return str(numbers[0]) if len(numbers) == 1 else "(" + ",".join(map(str, numbers)) + ")"


def layout_text(table, size):
    """`table[thread][value]` is the row-major element of a tile of `size`. Returns the layout and how many threads hold each element."""
    threads = _mode([row[0] for row in table], "elements of the threads")
    values = _mode(table[0], "elements of a thread")
    origin = table[0][0]
    for row in table:
        if any(a - row[0] != b - origin for a, b in zip(row, table[0])):
            raise Refused("threads read different patterns of elements")
    held = [0] * size
    for row in table:
        for element in row:
            if not 0 <= element < size:
                raise Refused(f"element {element} of {size} is read")
            held[element] += 1
    if len(set(held)) != 1 or held[0] == 0:
        often = held.index(max(held)) if max(held) > 1 else held.index(0)
        raise Refused(f"element {often} is read {held[often]} times and element {held.index(min(held))} {min(held)} times; each element "
                      "is to be copied to a fragment once")
    if origin != 0:
        raise Refused(f"value 0 of thread 0 is element {origin}, and a layout begins at element 0")
    modes = (threads, values)
    shape = ",".join(_tuple([extent for extent, _ in mode]) for mode in modes)
    stride = ",".join(_tuple([step for _, step in mode]) for mode in modes)
    return f"({shape}):({stride})", held[0]
