#!/bin/sh
# Writes the site: bench/site/make.sh FOLDER, from the project's top folder. The playground, where it is there, adds its files by a script of its own.
out=$1
for python in python3 /usr/bin/python3; do
  "$python" -c 'import clang.cindex, markdown_it, pygments' 2>/dev/null && break
  python=
done
[ -n "$python" ] || {
  echo "site: libclang for Python, markdown-it or Pygments was not found; install them (Debian: apt-get install python3-clang-19 python3-markdown-it python3-pygments)" >&2
  exit 1
}
PYTHONDONTWRITEBYTECODE=1 "$python" bench/site/make_site.py "$out" || exit 1
[ ! -f bench/site/playground/build.sh ] || sh bench/site/playground/build.sh "$out/playground"
