#!/usr/bin/env bash
# Has Apple look at a signed disk image and staples the ticket to it, so that it opens without a network.
# Usage: notarise.sh IMAGE, with APPLE_ID, APPLE_TEAM and APPLE_PASSWORD (an app-specific one) in the environment.
set -euo pipefail
image=$1
: "${APPLE_ID:?}" "${APPLE_TEAM:?}" "${APPLE_PASSWORD:?}"
xcrun notarytool submit "$image" --apple-id "$APPLE_ID" --team-id "$APPLE_TEAM" --password "$APPLE_PASSWORD" --wait
xcrun stapler staple "$image"
spctl --assess --type open --context context:primary-signature --verbose "$image"
