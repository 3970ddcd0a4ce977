# Installs silently, tries the installed application out, removes it again: test_installer.ps1 SETUP.
param([Parameter(Mandatory)] [string] $Setup)
$ErrorActionPreference = "Stop"
$place = "$env:LOCALAPPDATA\Programs\Gateway Playground"

$process = Start-Process -Wait -PassThru $Setup "/S"
if ($process.ExitCode) { throw "the installer ended with $($process.ExitCode)" }
foreach ($path in @("$place\app\playground.exe", "$env:APPDATA\Microsoft\Windows\Start Menu\Programs\Gateway Playground.lnk")) {
    if (-not (Test-Path $path)) { throw "$path is missing" }
}
foreach ($arguments in @(@("--self-test"), @("--self-test", "--window"))) {
    & "$place\app\playground.exe" @arguments
    if ($LASTEXITCODE) { throw "the self-test failed" }
}
# The uninstaller copies itself elsewhere and returns at once; with _? it stays, and so stays behind.
$process = Start-Process -Wait -PassThru "$place\uninstall.exe" @("/S", "_?=$place")
if ($process.ExitCode) { throw "the uninstaller ended with $($process.ExitCode)" }
foreach ($path in @("$place\app", "HKCU:\Software\Classes\GatewayPlayground.Experiment")) {
    if (Test-Path $path) { throw "$path was left behind" }
}
"installed, tried out, removed"
