#!/bin/sh
# Writes what a version consists of: bench/packages/release.sh FOLDER, from the top folder of a clone. Everything is made of an archive of the last commit, unpacked
# in FOLDER.work: its bytes depend on the commit and on the versions of the tools alone. PARTS= some of "abi packages debian"; all, unless it is given. README.md has the rest.
set -eu
export LC_ALL=C TZ=UTC0
umask 022
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
folder=$1 parts=${PARTS-abi packages debian}
say() { echo "release: $*" >&2; }
[ -z "${KEY:-}" ] || { [ -r "$KEY" ] && KEY=$(realpath "$KEY"); } || { say "KEY=$KEY cannot be read" && exit 1; }
version=$(git show HEAD:include/attend/core/version.h | sed -nE 's/^.define ATTEND_VERSION_(MAJOR|MINOR|PATCH) //p' | paste -sd.)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) maintainer=${MAINTAINER:-$(git log -1 --format='%an <%ae>')}
export SOURCE_DATE_EPOCH

[ -z "$(git status --porcelain)" ] || say 'what is not committed is left out'
rm -rf "$folder" "$folder.work"
mkdir -p "$folder" "$folder.work"
folder=$(cd "$folder" && pwd)
archive=$folder/attend-$version.tar.xz
git -c tar.umask=0022 -c core.autocrlf=false archive --format=tar --prefix="attend-$version/" HEAD | xz -6 -T1 >"$archive"
cd "$folder.work"
tar xf "$archive"
cd "attend-$version"

case $parts in *abi*) sh bench/packages/abi.sh ../abi ;; esac
find . -type f | sed 's,^\./,,' | sort | xargs sha256sum >../MANIFEST
FILES=. ARCHIVE=$archive sh bench/packages/spdx.sh .. "$version" >"$folder/attend-$version.spdx.json"

case $parts in *packages*)
  make -j"${JOBS:-$(nproc)}" package CXX="${CXX:-g++}" URL="${URL:-}" >&2
  find build/packages -maxdepth 1 -type f -exec cp {} "$folder" \;
  make clean ;;
esac
case $parts in *debian*) if command -v dh >/dev/null; then
  cp -r bench/packages/debian .
  { sed -n '/^Copyright/{s/ (c)/:/p;q}' LICENSE && echo 'License: Expat' && sed '1,/^Copyright/d; /./!s/^/./; s/^/ /' LICENSE | sed 1d; } >../copyright
  plain() { printf %s "$1" | sed 's/[\\/&]/\\&/g'; }
  sed -i -e "s/@VERSION@/$version/; s/@MAINTAINER@/$(plain "$maintainer")/; s/@URL@/$(plain "${URL:-}")/" -e "s/@DATE@/$(date -R -d "@$SOURCE_DATE_EPOCH")/" \
    -e '/^Homepage: $/d' -e '/@COPYRIGHT@/{r ../copyright' -e 'd}' debian/control debian/changelog debian/copyright
  ln "$archive" "../attend_$version.orig.tar.xz"
  DEB_BUILD_OPTIONS="parallel=${JOBS:-$(nproc)} ${DEB_BUILD_OPTIONS:-}" dpkg-buildpackage -us -uc >../debian.log 2>&1 || { tail -n 20 ../debian.log >&2 && exit 1; }
  if command -v lintian >/dev/null; then lintian --allow-root --fail-on error,warning ../*.changes >&2; else say 'lintian has not looked at the Debian packages: apt-get install lintian'; fi
  cp -l ../attend_*.orig.tar.xz ../*.dsc ../*.debian.tar.xz ../libattend-[cd]*_*.deb "$folder"
  rm -f "$folder"/*-dbgsym_*
else say 'there are no Debian packages: apt-get install dpkg-dev debhelper lintian'; fi ;; esac

cd "$folder"
sha256sum -- * >"$folder.work/SHA256SUMS"
mv "$folder.work/SHA256SUMS" .
[ -n "${KEY:-}" ] || say 'this is unsigned: KEY= names the key of ssh-keygen that signs SHA256SUMS'
[ -z "${KEY:-}" ] || ssh-keygen -q -Y sign -f "$KEY" -n attend SHA256SUMS
ls
