#!/usr/bin/env python3
"""Makes an SVG of what stands on a terminal's screen.

    tmux capture-pane -e -p | scripts/screen-svg.py TITLE > picture.svg

Knows what tmux writes: characters, and SGR sequences for bold, reverse and the sixteen colours.
"""
import re
import sys
import unicodedata
from html import escape

CELL, LINE = 8, 17
COLORS = ["#1c1c1c", "#d75f5f", "#87af5f", "#d7af5f", "#5f87d7", "#af87d7", "#5fafaf", "#d0d0d0"]
BRIGHT = ["#6c6c6c", "#ff8787", "#afd787", "#ffd787", "#87afff", "#d7afff", "#87d7d7", "#ffffff"]
BACKGROUND, FOREGROUND = "#1c1c1c", "#d0d0d0"


def changed(style, codes):
    color, back, bold, reverse = style
    for code in (int(code or 0) for code in codes.split(";")):
        if code == 0:
            color, back, bold, reverse = None, None, False, False
        elif code in (1, 22):
            bold = code == 1
        elif code in (7, 27):
            reverse = code == 7
        elif 30 <= code <= 37 or code == 39:
            color = None if code == 39 else COLORS[code - 30]
        elif 90 <= code <= 97:
            color = BRIGHT[code - 90]
        elif 40 <= code <= 47 or code == 49:
            back = None if code == 49 else COLORS[code - 40]
    return color, back, bold, reverse


def cells(text):
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def main():
    lines = sys.stdin.read().rstrip("\n").split("\n")
    plain = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in lines]
    width = max(cells(line) for line in plain) * CELL + 20
    height = len(lines) * LINE + 20
    title = escape(sys.argv[1])
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
          'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="13">')
    print(f'<title>{title}</title>\n<rect width="{width}" height="{height}" rx="6" fill="{BACKGROUND}"/>')
    style = (None, None, False, False)
    for number, line in enumerate(lines):
        x, y = 10, 10 + number * LINE
        for part in re.split("(\x1b\\[[0-9;]*m)", line):
            sequence = re.fullmatch("\x1b\\[([0-9;]*)m", part)
            if sequence:
                style = changed(style, sequence[1])
                continue
            color, back, bold, reverse = style
            color, back = color or FOREGROUND, back or BACKGROUND
            if reverse:
                color, back = back, color
            size = cells(part) * CELL
            if back != BACKGROUND and part:
                print(f'<rect x="{x}" y="{y}" width="{size}" height="{LINE}" fill="{back}"/>')
            if part.strip():
                print(f'<text x="{x}" y="{y + 13}" textLength="{size}" lengthAdjust="spacingAndGlyphs" '
                      f'xml:space="preserve" fill="{color}"' + (' font-weight="bold"' if bold else "") +
                      f'>{escape(part)}</text>')
            x += size
    print("</svg>")


main()
