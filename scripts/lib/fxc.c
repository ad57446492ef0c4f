/* fxc FOLDER TEXT: has d3dcompiler_47.dll read every kernel's text for Direct3D 12 whose name contains it, as wgpu would. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

typedef struct Blob Blob;
struct Blob {
    struct {
        HRESULT(WINAPI *query)(Blob *, REFIID, void **);
        ULONG(WINAPI *add)(Blob *);
        ULONG(WINAPI *release)(Blob *);
        void *(WINAPI *bytes)(Blob *);
        SIZE_T(WINAPI *size)(Blob *);
    } *of;
};

typedef HRESULT(WINAPI *Compile)(const void *, SIZE_T, const char *, const void *, void *, const char *, const char *,
                                 UINT, UINT, Blob **, Blob **);

static const UINT STRICTLY = 1 << 11;

/* Whether it is taken. */
static int compile(Compile with, const char *path, const char *name) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = malloc(size);
    if (!text || fread(text, 1, size, file) != (size_t)size)
        return 0;
    fclose(file);
    Blob *code = NULL, *said = NULL;
    DWORD since = GetTickCount();
    HRESULT result = with(text, size, name, NULL, NULL, "main", "cs_5_1", STRICTLY, 0, &code, &said);
    printf("%8lu ms  %s%s\n", GetTickCount() - since, name, result ? "  REFUSED" : "");
    if (result && said)
        printf("%.*s\n", (int)said->of->size(said), (char *)said->of->bytes(said));
    if (code)
        code->of->release(code);
    if (said)
        said->of->release(said);
    free(text);
    return !result;
}

int main(int count, char **words) {
    HMODULE library = LoadLibraryA("d3dcompiler_47.dll");
    Compile with = library ? (Compile)(void *)GetProcAddress(library, "D3DCompile") : NULL;
    if (count < 3 || !with) {
        fprintf(stderr, "fxc FOLDER TEXT, with d3dcompiler_47.dll beside it\n");
        return 2;
    }
    char path[MAX_PATH];
    WIN32_FIND_DATAA found;
    snprintf(path, sizeof path, "%s\\*.5_1.hlsl", words[1]);
    HANDLE search = FindFirstFileA(path, &found);
    int taken = 0, refused = 0;
    for (int more = search != INVALID_HANDLE_VALUE; more; more = FindNextFileA(search, &found)) {
        if (!strstr(found.cFileName, words[2]))
            continue;
        snprintf(path, sizeof path, "%s\\%s", words[1], found.cFileName);
        *(compile(with, path, found.cFileName) ? &taken : &refused) += 1;
        fflush(stdout);
    }
    printf("%d passed, %d failed\n", taken, refused);
    return refused > 0 || taken == 0;
}
