/* Replays the files of the folders named on the command line through a fuzz target (when built without libFuzzer). */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(1 << 20);
    size_t size;

    if (!file || !data) {
        perror(path);
        exit(1);
    }
    size = fread(data, 1, 1 << 20, file);
    (void)fclose(file);
    uint8_t *exact = malloc(size ? size : 1); /* exact size, so that AddressSanitizer sees every overread */
    if (!exact)
        exit(1);
    memcpy(exact, data, size);
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    free(data);
    return 1;
}

int main(int argc, char **argv)
{
    int count = 0;

    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (!folder) {
            perror(argv[i]);
            return 1;
        }
        for (struct dirent *entry; (entry = readdir(folder));) {
            char path[4096];
            if (entry->d_name[0] == '.')
                continue;
            (void)snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            count += replay_file(path);
        }
        (void)closedir(folder);
    }
    (void)printf("%d inputs replayed\n", count);
    return count ? 0 : 1;
}
