#!/bin/sh
# Makes codemirror.js anew from the packages that package-lock.json pins. Needs Node and npm.
set -e
cd "$(dirname "$0")"
npm ci --no-audit --no-fund
npx esbuild editor.js --bundle --minify --format=esm --target=es2022 --legal-comments=none --outfile=codemirror.js
# The licences of all that is in it: one text by many authors.
for package in @codemirror/state @lezer/common; do
  echo "$package and the packages beside it:"; echo
  cat "node_modules/$package/LICENSE"; echo
done > LICENSE
for package in @marijn/find-cluster-break crelt style-mod w3c-keyname; do
  echo "$package:"; echo
  cat "node_modules/$package/LICENSE"; echo
done >> LICENSE
rm -rf node_modules
