/* SPDX-License-Identifier: MIT */
/* The place of the database: a file system that keeps data, existing folders, and one name. SQLite
 * names its log and its shared memory after the database, so a second name would have separate
 * locks. */
#include "sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* File systems that lose acknowledged data, or whose locks or shared memory cannot be trusted;
 * numbers from linux/magic.h and from the file systems' sources. */
static const struct {
    uint32_t type;
    const char *name, *why;
} places[] = {
    {0x01021994, "tmpfs", "loses its files at a restart"},
    {0x858458f6, "ramfs", "loses its files at a restart"},
    {0x794c7630, "overlay", "is removed with its container"},
    {0x61756673, "aufs", "is removed with its container"},
    {0x00006969, "NFS", "has no reliable locks"},
    {0x0000517b, "SMB", "has no reliable locks"},
    {0xfe534d42, "SMB", "has no reliable locks"},
    {0xff534d42, "CIFS", "has no reliable locks"},
    {0x01021997, "9p", "has no reliable locks"},
    {0x65735546, "FUSE", "hides what stores the data"},
    {0x786f4256, "vboxsf", "has no reliable locks"},
    {0xbacbacbc, "vmhgfs", "has no reliable locks"},
    {0x5346414f, "AFS", "has no reliable locks"},
    {0x6b414653, "AFS", "has no reliable locks"},
    {0x73757245, "Coda", "has no reliable locks"},
    {0x00c36400, "Ceph", "shares no memory between hosts"},
    {0x0bd00bd0, "Lustre", "shares no memory between hosts"},
    {0x47504653, "GPFS", "shares no memory between hosts"},
    {0x01161970, "GFS2", "shares no memory between hosts"},
    {0x7461636f, "OCFS2", "shares no memory between hosts"},
    {0x19830326, "BeeGFS", "shares no memory between hosts"},
    {0x20030528, "OrangeFS", "shares no memory between hosts"},
    {0xaad7aaea, "PanFS", "shares no memory between hosts"},
    {0x61636673, "ACFS", "shares no memory between hosts"},
};

/* Judges the file, or the nearest existing folder above it. */
static int check_place(const sqlite_store *store, const char *path, firn_error *error) {
    char existing[PATH_MAX];
    struct statfs place;
    snprintf(existing, sizeof existing, "%s", path);
    while (statfs(existing, &place) != 0) {
        char *slash = strrchr(existing, '/');
        if (errno != ENOENT || strcmp(existing, ".") == 0 || strcmp(existing, "/") == 0) {
            return module_fail(error, FIRN_ESTORE,
                               "store %s cannot be reached (%s): name another path",
                               sqlite_tail(path), strerror(errno));
        }
        if (slash == NULL) {
            strcpy(existing, ".");
        } else {
            slash[slash == existing] = '\0'; /* "/name" leaves "/" */
        }
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !store->unsafe; i++) {
        if (places[i].type == (uint32_t)place.f_type) {
            return module_advise(error, FIRN_ESTORE, FIRN_CURE_LOCAL_DISK,
                                 "store %s is on %s, which %s", sqlite_tail(path), places[i].name,
                                 places[i].why);
        }
    }
    return FIRN_OK;
}

/* Creates the missing folders of a path, for this user only. */
static int make_folders(const char *path, firn_error *error) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int why = mkdir(folder, 0700) == 0 ? 0 : errno;
        if (why == 0) {
            chmod(folder, 0700); /* a umask may remove the user's own rights */
        } else if (why != EEXIST && access(folder, X_OK) != 0) {
            return module_advise(error, FIRN_ESTORE, FIRN_CURE_OTHER_PLACE,
                                 "folder %s cannot be created (%s)", sqlite_tail(folder),
                                 strerror(why));
        }
        *slash = '/';
    }
    return FIRN_OK;
}

/* Makes the path absolute, because a process may change its working directory. */
int sqlite_settle_path(sqlite_store *store, const char *path, firn_error *error) {
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    char folder[PATH_MAX], real[PATH_MAX];
    int code, length;
    if (strlen(path) >= SQLITE_PATH_SIZE) {
        return module_fail(error, FIRN_EUSAGE,
                           "the path of the store has %zu bytes: use at most %d", strlen(path),
                           SQLITE_PATH_SIZE - 1);
    }
    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return module_fail(error, FIRN_EUSAGE, "'sqlite:%s' names no file: use sqlite:PATH",
                           sqlite_tail(path));
    }
    snprintf(folder, sizeof folder, "%.*s.", (int)(name - path), path);
    if ((code = check_place(store, path, error)) != FIRN_OK ||
        (store->folders && (code = make_folders(path, error)) != FIRN_OK)) {
        return code;
    }
    if (realpath(folder, real) == NULL) {
        if (errno == ENOENT && !store->create) {
            return sqlite_no_store(path, error);
        }
        folder[strlen(folder) > 2 ? strlen(folder) - 2 : 1] = '\0'; /* the /. at its end */
        return errno == ENOENT
                   ? module_fail(error, FIRN_ESTORE,
                                 "folder %s does not exist: correct the path, make the folder, or"
                                 " let firn make it with sqlite:PATH?create=yes",
                                 sqlite_tail(folder))
                   : module_fail(error, FIRN_ESTORE,
                                 "folder %s cannot be reached (%s): name another",
                                 sqlite_tail(folder), strerror(errno));
    }
    snprintf(store->folder, sizeof store->folder, "%.*s", SQLITE_PATH_SIZE - 1, real);
    length = snprintf(store->path, sizeof store->path, "%s/%s", real[1] == '\0' ? "" : real, name);
    return length < SQLITE_PATH_SIZE
               ? FIRN_OK
               : module_fail(error, FIRN_EUSAGE, "the path %s has %d bytes: use at most %d",
                             sqlite_tail(path), length, SQLITE_PATH_SIZE - 1);
}

/* ---- one name -------------------------------------------------------------------------------- */

/* The file to which a path leads. */
typedef struct target {
    dev_t device;
    ino_t inode;
    nlink_t links;
    mode_t mode;
    uint64_t mount; /* the kernel's number of the mount */
} target;

/* Linux before 5.8 shows only the mount of an open file. A descriptor opened with O_PATH holds no
 * locks, so closing it drops none. */
static int read_mount(const char *path, uint64_t *mount) {
    char name[64], line[64];
    int file = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    bool found = false;
    if (file < 0) {
        return -1;
    }
    snprintf(name, sizeof name, "/proc/self/fdinfo/%d", file);
    FILE *info = fopen(name, "re");
    while (info != NULL && !found && fgets(line, sizeof line, info) != NULL) {
        unsigned long long number;
        found = sscanf(line, "mnt_id: %llu", &number) == 1;
        *mount = found ? number : 0;
    }
    if (info != NULL) {
        fclose(info);
    }
    close(file);
    errno = ENOSYS;
    return found ? 0 : -1;
}

static int look_at(const char *path, target *out) {
    struct statx found;
    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_MNT_ID, &found) != 0) {
        return -1;
    }
    *out = (target){.device = makedev(found.stx_dev_major, found.stx_dev_minor),
                    .inode = found.stx_ino,
                    .links = found.stx_nlink,
                    .mode = found.stx_mode,
                    .mount = found.stx_mnt_id};
    return (found.stx_mask & STATX_MNT_ID) != 0 ? 0 : read_mount(path, &out->mount);
}

/* The file must have one name, in its folder and not mounted over. A bind mount or a second link is
 * noticed by the process that uses that name. */
static int check_one_name(const sqlite_store *store, const target *folder, const char *suffix,
                          const target *file, firn_error *error) {
    if (file->links > 1) {
        return module_fail(error, FIRN_ESTORE,
                           "store %s%s has %u names (hard links), each with its own locks:"
                           " keep one (find FOLDER -samefile %.160s%s)",
                           sqlite_tail(store->path), suffix, (unsigned)file->links,
                           strrchr(store->path, '/') + 1, suffix);
    }
    if (file->mount != folder->mount || file->device != folder->device) {
        return module_fail(error, FIRN_ESTORE,
                           "store %s%s is mounted without its folder, so its locks do not hold:"
                           " mount the folder instead of the file",
                           sqlite_tail(store->path), suffix);
    }
    return FIRN_OK;
}

static int not_told(const sqlite_store *store, firn_error *error) {
    return errno == ENOSYS
               ? module_fail(error, FIRN_ESYSTEM,
                             "the kernel does not report how store %s is mounted: use Linux 5.8 or"
                             " newer, or mount /proc",
                             sqlite_tail(store->path))
               : module_fail(error, FIRN_ESTORE,
                             "store %s is gone (%s): bring it back and start again",
                             sqlite_tail(store->path), strerror(errno));
}

int sqlite_replaced(const sqlite_store *store, firn_error *error) {
    return module_fail(error, FIRN_ESTORE,
                       "store %s was replaced while in use: put back the old file, or treat"
                       " it as lost (docs/reference/stores.md)",
                       sqlite_tail(store->path));
}

int sqlite_check_file(const sqlite_store *store, sqlite_session *session, firn_error *error) {
    static const char *const beside[] = {"-wal", "-shm"};
    target folder, file;
    if (look_at(store->path, &file) != 0 || look_at(store->folder, &folder) != 0) {
        return not_told(store, error);
    }
    bool other = file.inode != store->inode, changed = session != NULL && session->inode != 0;
    if (file.device != store->device || !S_ISREG(file.mode) ||
        (other && (session == NULL || !store->known)) ||
        (changed && file.inode != session->inode)) {
        return sqlite_replaced(store, error);
    }
    if (session != NULL) {
        session->inode = file.inode;
    }
    int code = check_one_name(store, &folder, "", &file, error);
    for (size_t i = 0; i < sizeof beside / sizeof beside[0] && code == FIRN_OK; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s%s", store->path, beside[i]);
        if (look_at(path, &file) == 0) { /* the file may not exist */
            file.links = file.links == 0 ? 1 : file.links;
            code = check_one_name(store, &folder, beside[i], &file, error);
        }
    }
    return code;
}

/* A file system without RENAME_NOREPLACE gives a new file two names for a moment. */
static void await_one_name(const sqlite_store *store) {
    target file;
    for (int i = 0; i < 100 && look_at(store->path, &file) == 0 && file.links > 1; i++) {
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
}

int sqlite_settle_file(sqlite_store *store, firn_error *error) {
    char real[PATH_MAX];
    struct stat file;
    if (realpath(store->path, real) == NULL || stat(real, &file) != 0 || !S_ISREG(file.st_mode) ||
        strlen(real) >= SQLITE_PATH_SIZE) {
        return module_fail(error, FIRN_ESTORE,
                           "store %s is not a file that can be reached: name another",
                           sqlite_tail(store->path));
    }
    strcpy(store->path, real); /* SQLite follows a symbolic link too */
    strcpy(store->folder, real);
    strrchr(store->folder, '/')[strrchr(store->folder, '/') == store->folder] = '\0';
    store->device = file.st_dev;
    store->inode = file.st_ino;
    int code = check_place(store, store->path, error);
    code = code == FIRN_OK ? check_place(store, store->folder, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    await_one_name(store);
    return sqlite_check_file(store, NULL, error);
}

/* ---- what lasts ------------------------------------------------------------------------------ */

/* firn did not create an unreadable folder, and does not change it. */
static int sync_folder(const char *path) {
    int result = 0, folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        result = fsync(folder) == 0 || errno == EINVAL ? 0 : -1;
        close(folder);
    }
    return result;
}

int sqlite_sync_folders(const sqlite_session *session) {
    char folder[PATH_MAX], *slash;
    int result = 0;
    snprintf(folder, sizeof folder, "%s", session->store->path);
    while (result == 0 && (slash = strrchr(folder, '/')) != folder) {
        *slash = '\0';
        result = sync_folder(folder);
    }
    if (result != 0 || sync_folder("/") != 0) {
        return module_fail(session->error, FIRN_ESTORE,
                           "folder %s cannot be synced (%s): check the disk", sqlite_tail(folder),
                           strerror(errno));
    }
    return FIRN_OK;
}
