# Builds the Windows installer: build.ps1 OUT. Needs Python 3.11 to 3.13 and NSIS 3 (makensis in the path).
# With WINDOWS_CERTIFICATE, the SHA-1 thumbprint of a certificate in the user's store, programs and installer are signed.
param([Parameter(Mandatory)] [string] $Out)
$ErrorActionPreference = "Stop"
$PSNativeCommandUseErrorActionPreference = $true
$root = Resolve-Path "$PSScriptRoot/../.."
New-Item -ItemType Directory -Force $Out | Out-Null
$out = (Resolve-Path $Out).Path

function Sign([string[]] $files) {
    if ($env:WINDOWS_CERTIFICATE) {
        signtool sign /sha1 $env:WINDOWS_CERTIFICATE /fd SHA256 /td SHA256 /tr $env:WINDOWS_TIMESTAMP_URL @files
        if ($LASTEXITCODE) { throw "signtool failed" }
    }
}

python "$root/packaging/freeze.py" $out
if ($LASTEXITCODE) { throw "the application could not be frozen" }
$version = (Select-String -Path "$root/playground/__init__.py" -Pattern '__version__ = "(.*)"').Matches[0].Groups[1].Value
Sign @("$out/gateway-playground/playground.exe", "$out/gateway-playground/Gateway Playground.exe")
$setup = "$out/gateway-playground-$version-windows-x86_64-setup.exe"
makensis -V2 -WX "-DVERSION=$version" "-DFILES=$out\gateway-playground\*" "-DICON=$out\icons\app.ico" "-DOUTPUT=$setup" `
    "$PSScriptRoot/installer.nsi"
if ($LASTEXITCODE) { throw "makensis failed" }
Sign @($setup)
Copy-Item "$out/sbom.cdx.json" "$out/gateway-playground-$version-windows-x86_64.cdx.json"
"{0}: {1:N1} MB" -f (Split-Path $setup -Leaf), ((Get-Item $setup).Length / 1e6)
