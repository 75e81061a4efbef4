#!/bin/sh
# What HTML Tidy (Debian: tidy) says of every page: tests/site/tidy.sh FOLDER. Prints a line for each check.
#
# Tidy 5.6 is older than some of HTML's attributes, and takes div in dl, around a term and its description, for a mistake: it reads pages
# without these, as lines of the same numbers.
folder=$1
pages=$(cd "$folder" && find . -name '*.html' | sed 's#^\./##' | LC_ALL=C sort)
younger='<nav> proprietary attribute "popover"|<button> proprietary attribute "popovertarget"|<a> proprietary attribute "aria-current"'
younger="$younger|<img> proprietary attribute \"loading\"|<input> proprietary attribute \"autocapitalize\""
said=$(for page in $pages; do
  sed -E 's#<div( id="[^"]*")?><dt>#<dt>#g; s#</dd></div>#</dd>#g' "$folder/$page" | tidy -errors -quiet -utf8 --show-errors 1000 2>&1 | sed "s#^#$page #"
done | grep -vE " Warning: ($younger)\$")
count=$(echo "$pages" | grep -c .)
if [ "$count" -eq 0 ]; then
  echo "FAIL Tidy: there are no pages in $folder"
elif [ -n "$said" ]; then
  echo "FAIL Tidy finds nothing on $count pages: $(echo "$said" | head -n 6 | tr '\n' ';')"
else
  echo "ok   Tidy finds nothing on $count pages"
fi
