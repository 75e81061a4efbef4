#!/bin/sh
# A release has the same bytes wherever and whenever it is made, and what is damaged or missing in it is found: tests/scripts/check_release.sh CXX BUILD_DIR
#
# ALL=1 makes packages and Debian's too, which compile the library six times: ten minutes of a processor, and 20 seconds without. What is installed runs under
# autopkgtest: bench/packages/README.md.
cxx=$1
build=$2/check_release
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
build=$(cd "$build" && pwd)
{ needs git git && needs ssh-keygen openssh-client && needs xz xz-utils && needs python3 python3; } || { finish && exit; }
git ls-files -co --exclude-standard >"$build/files" 2>/dev/null || { skip 'a release' 'there is no clone'; finish; exit; }

# A clone of the sources as they are here, committed or not, always by the same person at the same time.
export HOME="$build" GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@example.org GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@example.org \
  GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
cloned() (
  mkdir -p "$build/$1" && xargs -d '\n' cp --parents -t "$build/$1" <"$build/files" && cd "$build/$1" &&
    git init -q . && git add -A && git commit -qm x
)
# released FOLDER PARTS COMMAND...: with packages only where ALL=1.
released() (
  cd "$build/$1" && parts="$2 ${ALL:+packages debian}" && shift 2 && CXX=$cxx PARTS=$parts "$@" sh bench/packages/release.sh build/release
)
elsewhere() (
  umask 077
  mkdir "$build/locale" && localedef -i tr_TR -f UTF-8 "$build/locale/tr_TR.UTF-8" # where its sources are installed; else it is C's
  cloned a_much/longer/folder && find "$build/a_much" -path '*/.git' -prune -o -exec touch -d 2001-02-03 {} + || return
  later='' && [ -z "${ALL:-}" ] || ! command -v faketime >/dev/null || later='faketime -f +400d'
  # shellcheck disable=SC2086
  released a_much/longer/folder '' $later env CCACHE_DISABLE=1 TZ=Asia/Tokyo LOCPATH="$build/locale" LC_ALL=tr_TR.UTF-8 KEY="$build/key"
)
ssh-keygen -q -t ed25519 -N '' -C releaser -f "$build/key" || exit 1
echo "releaser $(cat "$build/key.pub")" >"$build/signers"
verified() (
  cd "$1" && ssh-keygen -Y verify -f "$build/signers" -I releaser -n attend -s SHA256SUMS.sig <SHA256SUMS && sha256sum --quiet -c SHA256SUMS
)
refused() { if "$@" >"$build/log" 2>&1; then return 1; fi; }

succeeds "the sources are cloned" cloned one
tools='' && needs abidiff abigail-tools && tools=abi
succeeds "a release is made" released one "$tools" env KEY= || { finish; exit; }
nothing_in "$(grep -q 'this is unsigned' "$build/log" || echo 'it does not say so')" "a release without a key says that it is unsigned"
succeeds "it is made and signed in another folder, at another time, with another umask and locale" elsewhere || { finish; exit; }
there=$build/a_much/longer/folder/build/release archive=$(cd "$build/one/build/release" && ls attend-*.tar.xz)
nothing_in "$(diff -r -x SHA256SUMS.sig "$build/one/build/release" "$there")" "both have the same bytes"
nothing_in "$(tar tf "$there/$archive" | grep -v '/$' | sed 's,^[^/]*/,,' | LC_ALL=C sort >"$build/held"
  LC_ALL=C sort "$build/files" | diff - "$build/held")" "the archive has the committed files, and no others"
nothing_in "$(tar tvf "$there/$archive" --numeric-owner --utc | grep -vE '^[-d]rw(-r--r--|xr-xr-x) 0/0 +[0-9]+ 2023-11-14 22:13 ')" "the archive has one owner, one time and two modes"
nothing_in "$(python3 - "$there" "$archive" <<'END'
import hashlib, json, pathlib, sys, tarfile
folder = pathlib.Path(sys.argv[1])
bill = json.loads(next(folder.glob('*.spdx.json')).read_text())
said = {entry['fileName'][2:]: entry['checksums'][1]['checksumValue'] for entry in bill['files']}
with tarfile.open(folder / sys.argv[2]) as archive:
    held = {entry.name.split('/', 1)[1]: hashlib.sha256(archive.extractfile(entry).read()).hexdigest() for entry in archive if entry.isfile()}
if said != held or bill['packages'][0]['checksums'][0]['checksumValue'] != hashlib.sha256((folder / sys.argv[2]).read_bytes()).hexdigest():
    print('they differ')
END
)" "the bill of materials has the sums of the archive and of its files"

succeeds "it is verified by its signature" verified "$there"
cp -r "$there" "$build/damaged"
printf x | dd of="$build/damaged/$archive" bs=1 seek=100000 conv=notrunc 2>/dev/null
succeeds "a damaged archive is refused" refused verified "$build/damaged"
(cd "$build/damaged" && sha256sum -- attend* >SHA256SUMS)
succeeds "sums that nobody signed are refused" refused verified "$build/damaged"

# changed WHAT EXPECTED READ SED: whether the binary interface with that change is accepted or refused.
changed() {
  status=unchanged
  if (cd "$build/one" && sed -i "$4" include/attend/c/problem.h src/c/c_floats.cpp && ! git diff --quiet) >"$build/log" 2>&1; then
    status=refused
    (cd "$build/one" && CXX=$cxx ABI=$3 sh bench/packages/abi.sh build/abi) >"$build/log" 2>&1 && status=accepted
  fi
  (cd "$build/one" && git checkout -q .)
  nothing_in "$([ $status = "$2" ] || { echo "$status: " && cat "$build/log"; })" "the binary interface: $1 is $2"
}
[ -z "$tools" ] || case $($cxx -dumpmachine) in x86_64*linux*)
  changed 'a function less, even if somebody has read it,' refused read 's/^attend_status attend_alibi_slopes(/static &/; /^ATTEND_API.* attend_alibi_slopes(/d'
  changed 'another value of an enumerator' refused '' 's/ATTEND_LSE_BASE_2 = 1/ATTEND_LSE_BASE_2 = 2/'
  changed 'a field at the end, which somebody has read,' accepted read 's/^} attend_mask;/  int more;\n&/'
  changed 'a function more' accepted '' 's/^\(ATTEND_API \)*attend_status attend_alibi_slopes(/\1int attend_more(void);\n&/; s/^int attend_more(void);/int attend_more(void) { return 0; }/' ;;
esac

if [ -n "${ALL:-}" ] && needs dh debhelper && needs lintian lintian; then
  nothing_in "$(cd "$there" && ls *.dsc *.debian.tar.xz libattend-dev_*.deb libattend-c1_*.deb 2>&1 >/dev/null)" "Debian's packages are there, of which lintian has said nothing"
fi

finish
