#!/bin/sh
# Prints an SPDX bill of materials of the files that a MANIFEST names: bench/packages/spdx.sh FOLDER VERSION, with the MANIFEST in FOLDER, and FILES= the
# folder that its files lie in, where it is another one, and ARCHIVE= the archive that has them, if any. SOURCE_DATE_EPOCH= is when it was made; the same
# files then give the same bytes.
folder=$1 version=$2 files=${FILES:-$1}
sum=$(sha256sum "$folder/MANIFEST" | cut -d ' ' -f 1)
sed '/^#/d' "$folder/MANIFEST" | LC_ALL=C sort -k 2 >"$folder/spdx.sums"
cut -c 67- "$folder/spdx.sums" | (cd "$files" && xargs sha1sum) | cut -c 1-40 | paste -d ' ' - "$folder/spdx.sums" >"$folder/spdx.files"
code=$(cut -d ' ' -f 1 "$folder/spdx.files" | sort | tr -d '\n' | sha1sum | cut -d ' ' -f 1)
cat <<END
{
 "spdxVersion": "SPDX-2.3",
 "dataLicense": "CC0-1.0",
 "SPDXID": "SPDXRef-DOCUMENT",
 "name": "attend-$version",
 "documentNamespace": "https://spdx.org/spdxdocs/attend-$version-$sum",
 "creationInfo": {"created": "$(date -u ${SOURCE_DATE_EPOCH:+-d "@$SOURCE_DATE_EPOCH"} +%Y-%m-%dT%H:%M:%SZ)", "creators": ["Tool: attend-$version"]},
 "documentDescribes": ["SPDXRef-attend"],
 "packages": [{
  "SPDXID": "SPDXRef-attend", "name": "attend", "versionInfo": "$version", "downloadLocation": "NOASSERTION", "filesAnalyzed": true,
  "packageVerificationCode": {"packageVerificationCodeValue": "$code"},
$(if [ -n "${ARCHIVE:-}" ]; then
  echo "  \"packageFileName\": \"./${ARCHIVE##*/}\", \"checksums\": [{\"algorithm\": \"SHA256\", \"checksumValue\": \"$(sha256sum "$ARCHIVE" | cut -d ' ' -f 1)\"}], \"comment\": \"nothing else is linked\","
else
  echo "  \"checksums\": [{\"algorithm\": \"SHA256\", \"checksumValue\": \"$sum\"}], \"comment\": \"the checksum is that of MANIFEST, which has one of each file; nothing else is linked\","
fi)
  "licenseConcluded": "MIT", "licenseDeclared": "MIT", "licenseInfoFromFiles": ["NOASSERTION"], "copyrightText": "NOASSERTION"
 }],
 "files": [
$(awk '{ printf "%s  {\"SPDXID\": \"SPDXRef-file-%d\", \"fileName\": \"./%s\", \"licenseConcluded\": \"MIT\", \"licenseInfoInFiles\": [\"NOASSERTION\"], \"copyrightText\": \"NOASSERTION\",\n   \"checksums\": [{\"algorithm\": \"SHA1\", \"checksumValue\": \"%s\"}, {\"algorithm\": \"SHA256\", \"checksumValue\": \"%s\"}]}", (NR > 1 ? ",\n" : ""), NR, $3, $1, $2 }' "$folder/spdx.files")
 ],
 "relationships": [
$(awk '{ printf "%s  {\"spdxElementId\": \"SPDXRef-attend\", \"relationshipType\": \"CONTAINS\", \"relatedSpdxElement\": \"SPDXRef-file-%d\"}", (NR > 1 ? ",\n" : ""), NR }' "$folder/spdx.files")
 ]
}
END
rm "$folder/spdx.files" "$folder/spdx.sums"
