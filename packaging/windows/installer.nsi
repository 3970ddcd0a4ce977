; The Windows installer: for one user, without administrator rights. Silent with /S, elsewhere with /D=FOLDER (the last
; argument, unquoted). Compiled by packaging/windows/build.ps1 and .ci/windows_wine.sh. By hand, with FILES as a pattern in
; the path syntax of the system that compiles:
;   makensis -DVERSION=1.0.0 -DFILES=dist/gateway-playground/* -DICON=dist/icons/app.ico \
;     -DOUTPUT=gateway-playground-setup.exe installer.nsi

Unicode true
!include MUI2.nsh
!include FileFunc.nsh

!define NAME "Gateway Playground"
!define PROGRAM "${NAME}.exe"
!define COMMAND "playground.exe"
!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\GatewayPlayground"
!define CLASS "GatewayPlayground.Experiment"
; Windows goes by the last suffix alone, and .json belongs to others: ours is an offer for files of our name only.
!define VERB "Software\Classes\SystemFileAssociations\.json\shell\GatewayPlayground"

Name "${NAME}"
OutFile "${OUTPUT}"
InstallDir "$LOCALAPPDATA\Programs\${NAME}"
InstallDirRegKey HKCU "${KEY}" "InstallLocation"
RequestExecutionLevel user
SetCompressor /SOLID lzma
ManifestDPIAware true
BrandingText " "

VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "${NAME}"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "${NAME} installer"
VIAddVersionKey "LegalCopyright" "The Gateway Playground authors. MIT licence; Qt under the LGPL 3."

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_FINISHPAGE_RUN "$INSTDIR\app\${PROGRAM}"
!define MUI_FINISHPAGE_RUN_TEXT "Open ${NAME}"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

; A program that runs cannot be replaced or removed. Asks to close it; silent, it ends with error level 3.
!macro Closed un
Function ${un}Closed
  again:
  IfFileExists "$INSTDIR\app\${PROGRAM}" 0 done
  ClearErrors
  FileOpen $0 "$INSTDIR\app\${PROGRAM}" a
  IfErrors busy
  FileClose $0
  Goto done
  busy:
  IfSilent 0 +3
    SetErrorLevel 3
    Abort
  MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "${NAME} is open. Close it, then choose Retry." IDRETRY again
  Abort
  done:
FunctionEnd
!macroend
!insertmacro Closed ""
!insertmacro Closed "un."

; All of ours is in the folder "app", so that nothing else can be removed with it, whatever folder a person chose.
!macro RemoveFiles
  RMDir /r "$INSTDIR\app"
  Delete "$INSTDIR\uninstall.exe"
!macroend

Section "-Application"
  Call Closed
  !insertmacro RemoveFiles
  SetOutPath "$INSTDIR\app"
  File /r "${FILES}"
  WriteUninstaller "$INSTDIR\uninstall.exe"

  CreateShortcut "$SMPROGRAMS\${NAME}.lnk" "$INSTDIR\app\${PROGRAM}" "" "$INSTDIR\app\${PROGRAM}" 0

  WriteRegStr HKCU "Software\Classes\${CLASS}" "" "${NAME} experiment"
  WriteRegStr HKCU "Software\Classes\${CLASS}\DefaultIcon" "" "$INSTDIR\app\${PROGRAM},0"
  WriteRegStr HKCU "Software\Classes\${CLASS}\shell\open\command" "" '"$INSTDIR\app\${PROGRAM}" "%1"'
  WriteRegStr HKCU "Software\Classes\.json\OpenWithProgids" "${CLASS}" ""
  WriteRegStr HKCU "${VERB}" "" "Open in ${NAME}"
  WriteRegStr HKCU "${VERB}" "Icon" "$INSTDIR\app\${PROGRAM},0"
  WriteRegStr HKCU "${VERB}" "AppliesTo" 'System.FileName:"*.playground.json"'
  WriteRegStr HKCU "${VERB}\command" "" '"$INSTDIR\app\${PROGRAM}" "%1"'

  WriteRegStr HKCU "${KEY}" "DisplayName" "${NAME}"
  WriteRegStr HKCU "${KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${KEY}" "Publisher" "The Gateway Playground authors"
  WriteRegStr HKCU "${KEY}" "DisplayIcon" "$INSTDIR\app\${PROGRAM}"
  WriteRegStr HKCU "${KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${KEY}" "NoRepair" 1
  ${GetSize} "$INSTDIR\app" "/S=0K" $0 $1 $2
  WriteRegDWORD HKCU "${KEY}" "EstimatedSize" $0
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)' ; what opens what has changed
SectionEnd

; Gateways, settings, experiments and keys are the user's and stay.
Section "Uninstall"
  Call un.Closed
  !insertmacro RemoveFiles
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\${NAME}.lnk"
  DeleteRegKey HKCU "Software\Classes\${CLASS}"
  DeleteRegValue HKCU "Software\Classes\.json\OpenWithProgids" "${CLASS}"
  DeleteRegKey HKCU "${VERB}"
  DeleteRegKey HKCU "${KEY}"
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
SectionEnd
