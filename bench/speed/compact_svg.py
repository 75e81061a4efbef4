"""Writes SVGs of gnuplot anew: the same pictures in fewer lines. compact_svg.py FILE...

The points of a series become one polyline with a marker, a path's data one line, and neighbouring groups with the same attributes one
group; definitions that nothing refers to go.
"""
import itertools
import re
import sys

POINT = re.compile(r"\t<use xlink:href='#(\w+)' transform='translate\((.*?)\) scale\((.*?)\)' color='(.*?)'/>")


def style(line):
    """The mark, size and color of a point; None for any other line."""
    found = POINT.fullmatch(line)
    return found and found.group(1, 3, 4)


def with_markers(lines):
    for number, (kind, run) in enumerate(itertools.groupby(lines, style)):
        if kind is None:
            yield from run
            continue
        mark, scale, color = kind
        yield ("\t<marker id='m%d' markerUnits='userSpaceOnUse' overflow='visible' color='%s'><use xlink:href='#%s' transform='scale(%s)'/></marker>"
               % (number, color, mark, scale))
        ends = " ".join("marker-%s='url(#m%d)'" % (end, number) for end in ("start", "mid", "end"))
        yield "\t<polyline stroke='none' %s points='%s'/>" % (ends, " ".join(POINT.fullmatch(line).group(2) for line in run))


def compact(text):
    text = re.sub(r" *\n\t\t(?=[ML\d-])", " ", text)  # a path's data
    text = re.sub(r"/>(?=\t?<(use|g|/g)\b)", "/>\n", text)
    text = "\n".join(with_markers(text.split("\n")))
    text = re.sub(r"\n\t\t(<text>.*)\n\t</g>", r"\1</g>", text)
    text = re.sub(r"<g fill[^>]*>\n</g>\n", "", text)
    text = re.sub(r"\t<filter.*?</filter>\n", "", text, flags=re.DOTALL)  # frames of labels, which no plot here has
    same_group = re.compile(r"(<g fill[^>]*>\n)((?:\t.*\n)*)</g>\n\1")
    while same_group.search(text):
        text = same_group.sub(r"\1\2", text)
    before = None
    while text != before:  # a definition may refer to another one
        before = text
        text = re.sub(r"\t<.*\bid='(gp\w+)'.*\n", lambda found: found.group(0) if "'#%s'" % found.group(1) in before else "", text)
    return re.sub(r"\n\n+", "\n", text)


for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        picture = compact(file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write(picture)
