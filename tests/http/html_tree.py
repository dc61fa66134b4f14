"""What tests need to know of HTML, by Python's parser: its tree, whether it is well-formed, and the
texts that a reader sees."""

import html.parser

VOID = set("area base br col embed hr img input link meta source track wbr param".split())
INLINE = set("a abbr b bdi bdo big cite code del dfn em font i img input ins kbd label mark q s small "
             "span strike strong sub sup time tt u var wbr br script style x-tag samp svg path button".split())
LEFT_ALONE = set("pre code kbd samp var script style textarea svg".split())


class Malformed(Exception):
    pass


class Node:
    def __init__(self, tag, attributes):
        self.tag, self.attributes, self.children = tag, attributes, []

    def shape(self):
        """Tag, attributes and children without text; the order of inline siblings is the
        translation's own business."""
        shapes = [c.shape() for c in self.children if isinstance(c, Node)]
        blocks = [s for s in shapes if s[0] not in INLINE and s[0] != "#comment"]
        others = sorted((s for s in shapes if s not in blocks), key=repr)
        return (self.tag, self.attributes, tuple(blocks), tuple(others))

    @property
    def is_left_alone(self):
        return self.tag in LEFT_ALONE or ("translate", "no") in self.attributes


class Reader(html.parser.HTMLParser):
    """Strict: every element but the void ones is closed, in order."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.root = Node("#root", ())
        self.stack = [self.root]

    def add(self, child):
        self.stack[-1].children.append(child)

    def handle_starttag(self, tag, attrs):
        node = Node(tag, tuple(attrs))
        self.add(node)
        if tag not in VOID:
            self.stack.append(node)

    def handle_startendtag(self, tag, attrs):
        if tag not in VOID and not any(n.tag == "svg" for n in self.stack):
            raise Malformed(f"<{tag}/>")
        self.add(Node(tag, tuple(attrs)))

    def handle_endtag(self, tag):
        if self.stack[-1].tag != tag:
            raise Malformed(f"</{tag}> closes <{self.stack[-1].tag}>")
        self.stack.pop()

    def handle_data(self, data):
        self.add(data)

    def handle_comment(self, data):
        self.add(Node("#comment", (data,)))

    def handle_decl(self, decl):
        self.add(Node("#declaration", (decl,)))


def parse(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    if len(reader.stack) != 1:
        raise Malformed(f"<{reader.stack[-1].tag}> is not closed")
    return reader.root


def has_block(node):
    return any(isinstance(c, Node) and (c.tag not in INLINE and c.tag != "#comment" or has_block(c))
               for c in node.children)


def texts(root):
    """The blocks' texts as a reader sees them, without what is left alone."""
    found, current = [], []

    def flush():
        lines = "".join(current).split("\n")
        text = "\n".join(" ".join(line.split(" ")).strip() for line in lines)
        while "  " in text:
            text = text.replace("  ", " ")
        if any(c.isalnum() for c in text):
            found.append(text.strip())
        current.clear()

    def walk(node):
        for child in node.children:
            if isinstance(child, str):
                current.append(" ".join(child.replace("\n", " ").replace("\t", " ").split(" ")))
            elif child.tag == "br":
                current.append("\n")
            elif child.tag == "#comment" or child.is_left_alone and child.tag in INLINE:
                pass
            elif child.is_left_alone:
                flush()
            elif child.tag in INLINE and not has_block(child):
                walk(child)
            else:
                flush()
                walk(child)
                flush()

    walk(root)
    flush()
    return found
