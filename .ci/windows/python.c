/* python.exe: starts the interpreter in the python311.dll beside it. */
#include <windows.h>

int wmain(int argc, wchar_t **argv)
{
    HMODULE library = LoadLibraryW(L"python311.dll");
    int (*run)(int, wchar_t **) = library ? (int (*)(int, wchar_t **))(void *)GetProcAddress(library, "Py_Main") : NULL;
    return run ? run(argc, argv) : 127;
}
