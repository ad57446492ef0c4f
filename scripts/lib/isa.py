"""What four vendors' compilers made of kernels, out of their own statistics and listings.

    isa.py read CHIP STATISTICS LISTINGS    one JSON object a line, for each pipeline of each kernel
    isa.py table FIGURES                    those lines as a table for people
    isa.py diff BASE FIGURES CHIPS TEXT     what differs from an earlier recording of these chips' kernels with the text in
                                            their names; fails where a spill is new or a kernel is gone
    isa.py page BASE FIGURES PAGE           benches/ISA.md and its picture: two recordings side by side
    isa.py fields                           what the fields mean

STATISTICS is what scripts/lib/pipestats.c wrote, with lines KERNEL, ERROR and END between; LISTINGS the folder of the
drivers' texts.
"""

import json
import os
import re
import sys

FIELDS = """
kernel        its name; a second pipeline of the same call is "name #2"
chip          what it was compiled for
lanes         invocations of a workgroup
registers     vector registers of an invocation (Intel: the most that are alive at once; Adreno: of four each)
spills        registers that went to memory, scalar ones too (NVIDIA: bytes)
waves         how many run at once, as the driver counts them (AMD: to a SIMD; Adreno: to a core; the others do not say)
simd          invocations that step together
shared        bytes of workgroup memory
instructions  of the whole kernel
loop          instructions of the innermost loop with the most multiply-adds; waits and hints are not counted
inner_share   the part of them that multiply and add; dots and matrices do, too
loads         bytes of the widest load from memory, and from workgroup memory
stores        bytes of the widest store to each
clamps        integers' min, max and med in that loop
bound         what the mix of the loop leaves as the limit: multiply, load (over two bytes to a multiply-add) or other
"""

# The name of each statistic in a driver's words; several are added up.
WORDS = {
    "intel": {
        "registers": ["Max live registers"],
        "spills": ["Spill Count"],
        "shared": ["Workgroup Memory Size"],
        "instructions": ["Instruction Count"],
    },
    "amd": {
        "registers": ["VGPRs"],
        "spills": ["Spilled VGPRs", "Spilled SGPRs"],
        "waves": ["Subgroups per SIMD"],
        "shared": ["LDS size"],
        "instructions": ["Instructions"],
    },
    "nvidia": {
        "registers": ["Number of GPRs"],
        "spills": ["SLM Size"],
        "instructions": ["Instruction count"],
    },
    "adreno": {
        "registers": ["Registers used"],
        "spills": ["STP Count"],
        "waves": ["Max Waves Per Core"],
        "instructions": ["Instruction Count"],
    },
}

# The name of the listing.
LISTING = {"intel": "GEN_Assembly", "amd": "Assembly", "nvidia": "NAK_assembly", "adreno": "IR3_Assembly"}


class Line:
    """An instruction: its opcode, how often it runs, where it may jump, and whether a predicate guards it."""

    def __init__(self, text, op, count=1, to=None, guarded=False):
        self.text, self.op, self.count, self.to, self.guarded = text, op, count, to, guarded


def read_intel(text):
    """Lines and labels. Only `while` jumps back; a message's own line follows its send."""
    lines, labels = [], {}
    rows = text.split("\n")
    for i, row in enumerate(rows):
        if label := re.match(r"(LABEL\d+):", row):
            labels[label[1]] = len(lines)
        elif found := re.match(r"(?:\([^)]*\)\s*)?([a-z][a-z_0-9]*)(\.[a-z0-9.]+)?\s*\(\d+\)", row):
            op, to = found[1] + (found[2] or ""), None
            if found[1] == "while":
                to = re.search(r"JIP:\s+(LABEL\d+)", row)[1]
            if found[1] in ("send", "sends") and i + 1 < len(rows):
                row += " " + rows[i + 1].strip()
            if found[1] not in ("sync", "nop"):
                lines.append(Line(row, op, to=to))
    return lines, labels


def read_amd(text):
    lines, labels = [], {}
    for row in text.split("\n"):
        if label := re.match(r"(BB\d+):", row):
            labels[label[1]] = len(lines)
        elif found := re.match(r"\s+([a-z][a-z_0-9]*)\s?(.*)", row):
            op = found[1]
            to = re.match(r"BB\d+", found[2]) if op.startswith(("s_cbranch", "s_branch")) else None
            if not op.startswith(("s_delay", "s_waitcnt", "s_clause", "s_nop", "s_wait_", "s_code_end")):
                lines.append(Line(row, op, to=to and to[0]))
    return lines, labels


def read_nvidia(text):
    lines, labels = [], {}
    for row in text.split("\n"):
        if label := re.match(r"block(?:\.u)? \d+ (L\d+) ", row):
            labels[label[1]] = len(lines)
        elif found := re.match(r"\s*(?:@!?u?p\d+\s+)?(?:[^=\[]*=\s*)?([a-z][a-z0-9.]*)(.*)//", row):
            to = re.search(r"\bL\d+", found[2]) if found[1].startswith("bra") else None
            if found[1] != "nop":
                lines.append(Line(row, found[1], to=to and to[0], guarded=row.startswith("@")))
    return lines, labels


def read_adreno(text):
    lines, labels = [], {}
    for row in text.split("\n"):
        if label := re.match(r":?(l\d+):", row):
            labels[label[1]] = len(lines)
        elif found := re.match(r"((?:\([a-z0-9]+\)\s*)*)([a-z][a-z0-9._]*)(.*)", row):
            to = re.search(r"#(l\d+)", found[3]) if found[2].startswith(("br", "jump")) else None
            again = re.search(r"\(rpt(\d)\)", found[1])
            if found[2] != "nop":
                lines.append(Line(row, found[2], 1 + int(again[1]) if again else 1, to and to[1]))
    return lines, labels


READ = {"intel": read_intel, "amd": read_amd, "nvidia": read_nvidia, "adreno": read_adreno}

# What multiplies and adds floats or bytes: names that integers' addresses use, too, are left out.
MULTIPLY = {
    "intel": re.compile(r"mad$|mad\.(?!u)|dp4a|dpas|mac"),
    "amd": re.compile(r"v_(dual_)?(pk_)?(fma|fmac|mac|mad_mix|fma_mix)\w*_?(f16|f32|f64|legacy)?|v_dot|v_wmma|v_pk_fma"),
    "nvidia": re.compile(r"ffma|hfma2|dfma|idp|hmma|imma"),
    "adreno": re.compile(r"mad\.f|dp4acc|dp2acc"),
}
INTEGER = re.compile(r"v_mad_(u|i)|imad|mad\.[us]")
CLAMP = {
    "intel": re.compile(r"sel\.(l|ge)$"),
    "amd": re.compile(r"[vs]_(min|max|med)3?_[ui]\d+"),
    "nvidia": re.compile(r"imnmx"),
    "adreno": re.compile(r"(min|max)\.[us]"),
}


def multiplies(kind, line):
    if kind == "intel" and not re.search(r"g\d+[^ ]*F\b|acc\d", line.text) and line.op.startswith("mad"):
        return 0
    if INTEGER.match(line.op) or not MULTIPLY[kind].match(line.op):
        return 0
    # Two in one instruction.
    return line.count * line.op.count("dual_f") if "dual_f" in line.op else line.count


def is_clamp(kind, line):
    # Trip counters of loops are kept below a bound, too: scalar on AMD, and none of the kernel's.
    if line.op.startswith("s_max_u32"):
        return False
    if kind == "intel" and not re.search(r"<1>U?D", line.text):
        return False
    return bool(CLAMP[kind].match(line.op))


WORD = {"b8": 1, "u8": 1, "i8": 1, "s8": 1, "d8u32": 1, "b16": 2, "u16": 2, "d16u32": 2, "b32": 4, "d32": 4, "b64": 8,
        "d64": 8, "b96": 12, "b128": 16}


def access(kind, line):
    """What a line reads or writes: (where, "load" or "store", bytes); None if it does neither."""
    text, op = line.text, line.op
    if kind == "intel":
        found = re.search(r"(slm|ugm|tgm|lsc|urb)? ?MsgDesc: \( ?(load|store)\w*,.*?(d\d+u?\d*), V(\d+)(, transpose)?", text)
        if found and "scratch" not in text and not found[5]:
            return ("shared" if found[1] == "slm" else "memory", found[2], WORD.get(found[3], 4) * int(found[4]))
        # Before DG2: untyped surface and SLM messages, a mask of channels.
        found = re.search(r"(?:dp data 1|hdc1).*?(untyped surface (read|write)|DC (?:un)?typed).*?mask = 0x([0-9a-f])", text,
                          re.IGNORECASE)
        if found:
            width = 4 * (4 - bin(int(found[3], 16)).count("1"))
            shared = re.search(r"Surface = 254", text)
            return ("shared" if shared else "memory", "load" if found[2] == "read" else "store", width)
        return None
    if kind == "amd":
        found = re.match(r"(ds|buffer|global|flat|scratch)_(load|store|read|write)(?:2(?:st64)?)?_\w*?(b\d+|u8|i8|u16|i16|ubyte|"
                         r"sbyte|ushort|short|byte|dwordx4|dwordx3|dwordx2|dword)", op)
        if not found or found[1] == "scratch":
            return None
        width = {"dwordx4": 16, "dwordx3": 12, "dwordx2": 8, "dword": 4, "ushort": 2, "short": 2, "i16": 2, "ubyte": 1,
                 "sbyte": 1, "byte": 1}.get(found[3]) or WORD[found[3]]
        what = {"read": "load", "write": "store"}.get(found[2], found[2])
        return ("shared" if found[1] == "ds" else "memory", what, width)
    if kind == "nvidia":
        found = re.match(r"(ld|st|ldc)\.(shared|global|const)?[a-z0-9.]*?\.?(b\d+|[us]8|[us]16)\b", op)
        if not found or found[1] == "ldc":
            return None
        return ("shared" if found[2] == "shared" else "memory", "load" if found[1] == "ld" else "store",
                WORD.get(found[3], 2))
    found = re.match(r"(ldl|stl|ldib|stib|isam|ldg|stg|resinfo)\w*[.a-z]*?\.?(u8|u16|u32|f16|f32|s32)?\b", op)
    if not found or found[1] == "resinfo":
        return None
    width = {"u8": 1, "u16": 2, "f16": 2}.get(found[2], 4)
    if found[1] in ("ldl", "stl"):
        number = re.search(r",\s*(\d+)\s*$", text)
        return ("shared", "load" if found[1] == "ldl" else "store", width * int(number[1] if number else 1))
    many = re.search(r"\.(?:un)?typed\.\dd\.[a-z0-9]+\.(?:imm\.)?(\d)|\(([xyzw]+)\)", text)
    count = int(many[1]) if many and many[1] else len(many[2]) if many else 1
    return ("memory", "load" if found[1] in ("ldib", "isam", "ldg") else "store", width * count)


ALWAYS = re.compile(r"(bra|s_branch|jump|s_endpgm|exit|end)\b")


def loops(lines, labels):
    """Innermost loops, each as the set of lines from which it comes around again."""
    comes_from = [[] for _ in range(len(lines) + 1)]
    back = {}
    for i, line in enumerate(lines):
        if not (ALWAYS.match(line.op) and not line.guarded):
            comes_from[i + 1].append(i)
        if line.to in labels:
            comes_from[labels[line.to]].append(i)
            if labels[line.to] <= i:
                back.setdefault(labels[line.to], []).append(i)
    found = []
    for head, ends in back.items():
        body, rest = {head}, list(ends)
        while rest:
            i = rest.pop()
            if i not in body:
                body.add(i)
                rest += comes_from[i]
        found.append(body)
    return [a for a in found if not any(b < a for b in found)]


def judge(kind, text):
    """What a listing says of its innermost loop and its widest accesses."""
    lines, labels = READ[kind](text)
    best = None
    for body in loops(lines, labels):
        part = [lines[i] for i in sorted(body) if i < len(lines)]
        muls = sum(multiplies(kind, line) for line in part)
        if muls and (best is None or muls > best[0]):
            best = (muls, part)
    out = {"loads": [0, 0], "stores": [0, 0]}
    for line in lines:
        if found := access(kind, line):
            where, what, width = found
            at = 0 if where == "memory" else 1
            out[what + "s"][at] = max(out[what + "s"][at], width)
    if not best:
        return out | {"loop": 0, "inner_share": None, "clamps": None, "bound": None}
    muls, part = best
    count = sum(line.count for line in part)
    # A dual instruction counts as the two that it is.
    count += sum(multiplies(kind, line) - line.count for line in part if "dual_f" in line.op)
    reads = [access(kind, line) for line in part]
    moved = sum(width for found in reads if found for width in [found[2]])
    share = muls / count
    bound = "other" if share < 0.5 else "load" if moved > 2 * muls else "multiply"
    clamps = sum(is_clamp(kind, line) for line in part)
    return out | {"loop": count, "inner_share": round(share, 3), "clamps": clamps, "bound": bound}


def statistics(chip, path, folder):
    kind, name, seen = chip.split(":")[0], None, 0
    lanes = number = None
    for row in open(path, errors="replace"):
        row = row.rstrip("\n")
        word, _, rest = row.partition(" ")
        if word == "KERNEL":
            name, seen = rest, 0
        elif word == "END":
            name = None
        elif word == "ERROR":
            yield {"kernel": name or "?", "chip": chip, "error": rest}
        elif word == "PIPE":
            number, lanes = (int(n) for n in rest.split())
        elif word == "EXE" and name:
            seen += 1
            said = dict(part.split("=", 1) for part in rest.split("; ")[1:])
            record = {"kernel": name if seen == 1 else f"{name} #{seen}", "chip": chip, "lanes": lanes, "waves": None}
            for field, words in WORDS[kind].items():
                record[field] = sum(int(float(said.get(word, 0))) for word in words)
            record["simd"] = int(said.get("subgroup", 0))
            listing = os.path.join(folder, f"{number}-{rest.split(';')[0]}-{LISTING[kind]}.txt")
            if os.path.exists(listing):
                record |= judge(kind, open(listing, errors="replace").read())
                record["listing"] = listing
            yield record


def read(chip, path, folder):
    for record in statistics(chip, path, folder):
        print(json.dumps(record))


def figures(path):
    """Objects, one to a line, of an array or not."""
    for row in open(path):
        if row.startswith("{"):
            yield json.loads(row.rstrip().rstrip(","))


def table(path):
    columns = ["chip", "lanes", "registers", "spills", "waves", "simd", "shared", "instructions", "loop", "inner_share",
               "loads", "stores", "clamps", "bound"]
    last = None
    for record in figures(path):
        if record["kernel"] != last:
            last = record["kernel"]
            print(f"\n{last}")
            print("  " + " ".join(f"{name[:11]:>11}" for name in columns))
        if "error" in record:
            print(f"  {record['chip']:>11} {record['error']}")
            continue
        words = {"inner_share": lambda x: f"{100 * x:.0f} %", "loads": lambda x: f"{x[0]}, {x[1]}"}
        words["stores"] = words["loads"]
        cells = ((name, record.get(name)) for name in columns)
        texts = ("-" if value is None else words.get(name, str)(value) for name, value in cells)
        print("  " + " ".join(f"{text:>11}" for text in texts))


def diff(base, path, chips, text):
    """What changed by more than a tenth, every new spill, and every kernel that is gone; the last two are what fails."""
    before = {(r["kernel"], r["chip"]): r for r in figures(base)}
    after = list(figures(path))
    compared = spilling = changed = 0
    gone = before.keys() - {(r["kernel"], r["chip"]) for r in after}
    gone = sorted((k, c) for k, c in gone if c in chips.split(",") and text in k)
    for kernel, chip in gone:
        print(f"gone: {kernel} on {chip}")
    for now in after:
        was = before.get((now["kernel"], now["chip"]), {})
        name = f"{now['kernel']} on {now['chip']}"
        if "error" in now:
            if "error" not in was:
                spilling += 1
                print(f"fails now: {name}: {now['error']}")
            continue
        compared += 1
        if now["spills"] > (was.get("spills") or 0):
            spilling += 1
            print(f"spills: {name}: {now['spills']}, was {was.get('spills', 'not there')}")
        for field in ("registers", "spills", "waves", "instructions", "inner_share"):
            a, b = was.get(field), now.get(field)
            if a is not None and b is not None and abs(b - a) > 0.1 * abs(a):
                changed += 1
                print(f"{field}: {name}: {b}, was {a}")
    print(f"{compared} compared, {changed} figures changed by more than a tenth, {spilling} new spills, {len(gone)} gone")
    sys.exit(spilling > 0 or len(gone) > 0 or compared == 0)


def arrow(was, now, text=str):
    a, b = ("-" if x is None else text(x) for x in (was, now))
    return b if a == b else f"{a} -> {b}"


def percent(x):
    return f"{100 * x:.0f} %"


def largest(records, prefix, chip):
    """Of a chip's kernels by that name the one with the largest tile: the first rung of its table."""
    def size(record):
        rows, columns, lanes = re.search(r"sums (\d+)x(\d+) lanes (\d+)", record["kernel"]).groups()
        return int(rows) * int(columns) * int(lanes)
    mine = [r for (kernel, c), r in records.items() if c == chip and kernel.startswith(prefix)]
    return max(mine, key=size, default={})


def tile_of(record):
    found = re.search(r"( lean)? sums (\w+) lanes (\d+)", record.get("kernel", ""))
    return f"{found[2]}{found[1] or ''}, {found[3]} lanes" if found else None


def page(base, path, to):
    """The tables below the mark in PAGE, and PAGE's picture beside it."""
    both = [{(r["kernel"], r["chip"]): r for r in figures(p)} for p in (base, path)]
    chips = list(dict.fromkeys(chip for _, chip in both[1]))
    kernels = list(dict.fromkeys(kernel for kernel, _ in both[1]))
    lines = []

    def side_by_side(title, prefix):
        lines.extend([f"\n### {title}\n", "| chip | kernel | registers | spills | waves | multiply-adds in the innermost loop |"
                      " clamps there | instructions |", "|---|---|---|---|---|---|---|---|"])
        for chip in chips:
            was, now = (largest(figures_, prefix, chip) for figures_ in both)
            if "spills" in now:
                names = [tile_of(r) for r in (was, now)]
                cells = [arrow(*names)] + [arrow(was.get(f), now[f]) for f in ("registers", "spills", "waves")]
                cells.append(arrow(was.get("inner_share"), now["inner_share"], percent))
                cells += [arrow(was.get(f), now[f]) for f in ("clamps", "instructions")]
                lines.append(f"| {chip} | " + " | ".join(cells) + " |")

    lines.append("\n## Large products: the first rung of each chip's table")
    for dtype in ("f32", "f16"):
        for depth, words in (("deep", "k of 1024"), ("shallow", "k of 256")):
            side_by_side(f"{dtype}, {words}", f"matmul {dtype} {depth}: group")
    lines.extend(["\n## What spills\n", "| kernel | " + " | ".join(chips) + " |", "|---" * (len(chips) + 1) + "|"])
    for kernel in kernels:
        pairs = [[figures_.get((kernel, chip), {}).get("spills") for figures_ in both] for chip in chips]
        if any(any(pair) for pair in pairs):
            lines.append(f"| {kernel} | " + " | ".join(arrow(*pair) for pair in pairs) + " |")
    mark = "<!-- what follows is written by scripts/isa --page -->\n"
    head = open(to).read().split(mark)[0]
    open(to, "w").write(head + mark + "\n".join(lines) + "\n")
    picture(both, chips, to.rsplit("/", 1)[0] + "/isa.svg")


def picture(both, chips, to):
    """Bars: the share of multiply-adds of what the chooser takes for a large product, before and after."""
    prefix, rows = "matmul f32 deep: group", []
    for i, chip in enumerate(chips):
        y = 40 + 34 * i
        rows.append(f'<text x="10" y="{y + 18}">{chip}</text>')
        for j, (name, colour) in enumerate((("was", "#b8c4d0"), ("is", "#2b6cb0"))):
            record = largest(both[j], prefix, chip)
            share, spills = record.get("inner_share") or 0, record.get("spills", 0)
            at, note = y + 13 * j, f", {spills} spilled" if spills else ""
            rows.append(f'<rect x="110" y="{at}" width="{400 * share:.0f}" height="12" fill="{colour}"/>')
            rows.append(f'<text x="{116 + 400 * share:.0f}" y="{at + 10}" class="small">{percent(share)}{note}</text>')
    height = 50 + 34 * len(chips)
    open(to, "w").write(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="{height}" font-family="sans-serif" font-size="13">\n'
        "<style>.small { font-size: 10px }</style>\n"
        '<rect width="100%" height="100%" fill="white"/>\n'
        '<text x="10" y="22">Multiply-adds in the innermost loop of large f32 products: before, and now</text>\n'
        + "\n".join(rows) + "\n</svg>\n")


def main():
    commands = {"read": (read, 3), "table": (table, 1), "diff": (diff, 4), "page": (page, 3),
                "fields": (lambda: print(FIELDS.strip()), 0)}
    command, count = commands.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0))
    if command is None or len(sys.argv) != 2 + count:
        sys.exit(__doc__.strip())
    command(*sys.argv[2:])


if __name__ == "__main__":
    main()
