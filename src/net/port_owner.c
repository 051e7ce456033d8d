/*
 * /proc/net/tcp and tcp6 name the inode of each listening socket; the descriptors of each process are links
 * to "socket:[inode]".  Another user's descriptors cannot be read without rights: then the owner stays
 * unknown.
 */
#include "net/port_owner.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/slice.h"

enum { LISTENING = 0x0a, LINK_MAX = 64, LINE_MAX_BYTES = 512 };

static void close_file(FILE **file)
{
    if (*file != NULL)
        (void)fclose(*file);
}

static void close_dir(DIR **dir)
{
    if (*dir != NULL)
        (void)closedir(*dir);
}

/* "  0: 0100007F:0FA0 00000000:0000 0A ... uid timeout inode ..." */
static bool inode_of_line(const char *line, uint16_t port, unsigned long *ret_inode)
{
    unsigned local_port;
    unsigned state;
    unsigned long inode;

    if (sscanf(line, " %*u: %*[0-9A-Fa-f]:%4X %*[0-9A-Fa-f]:%*X %2X %*s %*s %*s %*s %*s %lu", &local_port,
               &state, &inode) != 3)
        return false;
    if (local_port != port || state != LISTENING || inode == 0)
        return false;
    *ret_inode = inode;
    return true;
}

static bool find_inode(const char *table, uint16_t port, unsigned long *ret_inode)
{
    WEIR_CLEANUP(close_file) FILE *file = fopen(table, "re");
    char line[LINE_MAX_BYTES];

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (inode_of_line(line, port, ret_inode))
            return true;
    }
    return false;
}

static bool holds(int proc_fd, pid_t pid, const char *link)
{
    char path[LINK_MAX];
    char target[LINK_MAX];
    WEIR_CLEANUP(close_dir) DIR *dir = NULL;
    int fd;

    (void)snprintf(path, sizeof(path), "%ld/fd", (long)pid);
    fd = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    dir = fdopendir(fd);
    if (dir == NULL) {
        (void)close(fd);
        return false;
    }
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        ssize_t len = readlinkat(fd, entry->d_name, target, sizeof(target) - 1);

        if (len > 0 && (size_t)len == strlen(link) && memcmp(target, link, (size_t)len) == 0)
            return true;
    }
    return false;
}

static void read_name(int proc_fd, pid_t pid, char name[WEIR_PORT_OWNER_NAME_MAX])
{
    char path[LINK_MAX];
    ssize_t len = 0;
    int fd;

    (void)snprintf(path, sizeof(path), "%ld/comm", (long)pid);
    fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        len = read(fd, name, WEIR_PORT_OWNER_NAME_MAX - 1);
        (void)close(fd);
    }
    while (len > 0 && name[len - 1] == '\n')
        len--;
    name[len > 0 ? len : 0] = '\0';
    for (char *c = name; *c != '\0'; c++) {
        if (*c < ' ' || *c > '~')
            *c = '?';
    }
}

static bool pid_of(const char *name, pid_t *ret_pid)
{
    uint64_t pid;

    if (weir_slice_u64(weir_slice_str(name), &pid) != 0 || pid > INT32_MAX)
        return false;
    *ret_pid = (pid_t)pid;
    return true;
}

int weir_port_owner_find(uint16_t port, struct weir_port_owner *ret_owner)
{
    WEIR_CLEANUP(close_dir) DIR *proc = NULL;
    char link[LINK_MAX];
    unsigned long inode;
    pid_t pid;

    if (!find_inode("/proc/net/tcp", port, &inode) && !find_inode("/proc/net/tcp6", port, &inode))
        return WEIR_PORT_OWNER_UNKNOWN;
    (void)snprintf(link, sizeof(link), "socket:[%lu]", inode);
    proc = opendir("/proc");
    if (proc == NULL)
        return WEIR_PORT_OWNER_UNKNOWN;
    for (struct dirent *entry = readdir(proc); entry != NULL; entry = readdir(proc)) {
        if (!pid_of(entry->d_name, &pid) || !holds(dirfd(proc), pid, link))
            continue;
        ret_owner->pid = pid;
        read_name(dirfd(proc), pid, ret_owner->name);
        return 0;
    }
    return WEIR_PORT_OWNER_UNKNOWN;
}
