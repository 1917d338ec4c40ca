/* SPDX-License-Identifier: MIT */
/* Wrappers of the functions that the server calls in libc, libuv, GnuTLS, jansson and
 * libmicrohttpd: see refused.h. Nothing here tests. */
#ifndef FIRN_TEST_SERVER_REFUSED_H
#define FIRN_TEST_SERVER_REFUSED_H

#include "refused.h"

static json_t *refused_json(json_t *value) {
    json_decref(value); /* functions that take a reference take it also when they fail */
    return NULL;
}

WRAPPED(void *, malloc, (size_t size), (size), refused_memory())
WRAPPED(void *, calloc, (size_t count, size_t size), (count, size), refused_memory())
WRAPPED(void *, realloc, (void *piece, size_t size), (piece, size), refused_memory())
WRAPPED(void *, aligned_alloc, (size_t end, size_t size), (end, size), refused_memory())
WRAPPED(char *, strdup, (const char *text), (text), refused_memory())
WRAPPED(FILE *, open_memstream, (char **bytes, size_t *size), (bytes, size), refused_memory())
WRAPPED(FILE *, fopen64, (const char *path, const char *how), (path, how),
        (errno = EMFILE, (FILE *)NULL))
WRAPPED(int, fstat64, (int fd, struct stat *out), (fd, out), refused_call(EIO))
WRAPPED(int, lstat64, (const char *path, struct stat *out), (path, out), refused_call(EIO))
WRAPPED(int, chmod, (const char *path, mode_t mode), (path, mode), refused_call(EPERM))
WRAPPED(int, flock, (int fd, int how), (fd, how), refused_call(ENOLCK))
WRAPPED(ssize_t, getrandom, (void *out, size_t size, unsigned flags), (out, size, flags),
        refused_call(ENOSYS))
WRAPPED(int, getrlimit64, (__rlimit_resource_t what, struct rlimit *out), (what, out),
        refused_call(EPERM))
WRAPPED(struct tm *, localtime_r, (const time_t *time, struct tm *out), (time, out), NULL)

WRAPPED(int, socket, (int family, int type, int protocol), (family, type, protocol),
        refused_call(EMFILE))
WRAPPED(int, listen, (int fd, int backlog), (fd, backlog), refused_call(EADDRINUSE))
WRAPPED(int, accept4, (int fd, struct sockaddr *address, socklen_t *size, int flags),
        (fd, address, size, flags), refused_call(EMFILE))
WRAPPED(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t size),
        (fd, level, name, value, size), refused_call(ENOPROTOOPT))
WRAPPED(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *size),
        (fd, level, name, value, size), refused_call(ENOPROTOOPT))
WRAPPED(int, getsockname, (int fd, struct sockaddr *address, socklen_t *size), (fd, address, size),
        refused_call(ENOBUFS))
WRAPPED(int, getpeername, (int fd, struct sockaddr *found, socklen_t *size), (fd, found, size),
        refused_call(ENOTCONN))
WRAPPED(int, getaddrinfo,
        (const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **out),
        (host, port, hints, out), EAI_MEMORY)
WRAPPED(int, getnameinfo,
        (const struct sockaddr *address, socklen_t size, char *host, socklen_t host_size,
         char *port, socklen_t port_size, int flags),
        (address, size, host, host_size, port, port_size, flags), EAI_MEMORY)
WRAPPED(int, eventfd, (unsigned start, int flags), (start, flags), refused_call(EMFILE))
WRAPPED(int, pthread_create,
        (pthread_t * out, const pthread_attr_t *how, void *(*begin)(void *), void *self),
        (out, how, begin, self), EAGAIN)

WRAPPED(json_t *, json_array, (void), (), NULL)
WRAPPED(json_t *, json_object, (void), (), NULL)
WRAPPED(int, json_array_append_new, (json_t * out, json_t *value), (out, value),
        (refused_json(value), -1))
WRAPPED(int, json_object_set_new, (json_t * target, const char *key, json_t *value),
        (target, key, value), (refused_json(value), -1))
WRAPPED(char *, json_dumps, (const json_t *from, size_t flags), (from, flags), NULL)

json_t *__wrap_json_pack(const char *format, ...);
json_t *__wrap_json_pack(const char *format, ...) {
    va_list values;
    va_start(values, format);
    json_t *made = json_vpack_ex(NULL, 0, format, values);
    va_end(values);
    return fails("json_pack") ? refused_json(made) : made;
}

WRAPPED(struct MHD_Response *, MHD_create_response_from_buffer,
        (size_t size, void *bytes, enum MHD_ResponseMemoryMode mode), (size, bytes, mode), NULL)

WRAPPED(int, gnutls_init, (gnutls_session_t * out, unsigned flags), (out, flags),
        GNUTLS_E_MEMORY_ERROR)
WRAPPED(int, gnutls_priority_init,
        (gnutls_priority_t * out, const char *text, const char **position), (out, text, position),
        GNUTLS_E_MEMORY_ERROR)
WRAPPED(int, gnutls_priority_set, (gnutls_session_t owner, gnutls_priority_t target),
        (owner, target), GNUTLS_E_MEMORY_ERROR)
WRAPPED(int, gnutls_credentials_set,
        (gnutls_session_t of, gnutls_credentials_type_t type, void *dest), (of, type, dest),
        GNUTLS_E_MEMORY_ERROR)
WRAPPED(int, gnutls_certificate_allocate_credentials, (gnutls_certificate_credentials_t * out),
        (out), GNUTLS_E_MEMORY_ERROR)
WRAPPED(int, gnutls_certificate_set_x509_key_mem,
        (gnutls_certificate_credentials_t target, const gnutls_datum_t *cert,
         const gnutls_datum_t *key, gnutls_x509_crt_fmt_t format),
        (target, cert, key, format), GNUTLS_E_MEMORY_ERROR)
WRAPPED(int, gnutls_pcert_list_import_x509_raw,
        (gnutls_pcert_st * out, unsigned *count, const gnutls_datum_t *from,
         gnutls_x509_crt_fmt_t format, unsigned flags),
        (out, count, from, format, flags), GNUTLS_E_MEMORY_ERROR)
WRAPPED(int, gnutls_privkey_init, (gnutls_privkey_t * out), (out), GNUTLS_E_MEMORY_ERROR)
WRAPPED(int, gnutls_load_file, (const char *path, gnutls_datum_t *out), (path, out),
        GNUTLS_E_FILE_ERROR)
WRAPPED(ssize_t, gnutls_record_send, (gnutls_session_t target, const void *bytes, size_t size),
        (target, bytes, size), GNUTLS_E_PUSH_ERROR)
WRAPPED(ssize_t, gnutls_record_recv, (gnutls_session_t from, void *bytes, size_t size),
        (from, bytes, size), GNUTLS_E_DECRYPTION_FAILED)

WRAPPED(int, uv_loop_init, (uv_loop_t * self), (self), UV_EMFILE)
WRAPPED(int, uv_async_init, (uv_loop_t * on, uv_async_t *state, uv_async_cb rung),
        (on, state, rung), UV_EMFILE)
WRAPPED(int, uv_poll_init, (uv_loop_t * on, uv_poll_t *self, int fd), (on, self, fd), UV_ENOMEM)
WRAPPED(int, uv_thread_create, (uv_thread_t * out, uv_thread_cb begin, void *self),
        (out, begin, self), UV_EAGAIN)
WRAPPED(int, uv_tcp_init, (uv_loop_t * on, uv_tcp_t *state), (on, state), UV_ENOMEM)
WRAPPED(int, uv_tcp_open, (uv_tcp_t * self, uv_os_sock_t fd), (self, fd), UV_EEXIST)
WRAPPED(int, uv_pipe_init, (uv_loop_t * on, uv_pipe_t *state, int shares), (on, state, shares),
        UV_ENOMEM)
WRAPPED(int, uv_pipe_open, (uv_pipe_t * self, uv_file fd), (self, fd), UV_EEXIST)
WRAPPED(int, uv_read_start, (uv_stream_t * state, uv_alloc_cb room, uv_read_cb came),
        (state, room, came), UV_ENOTCONN)
WRAPPED(int, uv_try_write, (uv_stream_t * out, const uv_buf_t bufs[], unsigned count),
        (out, bufs, count), UV_EAGAIN)
WRAPPED(int, uv_write,
        (uv_write_t * self, uv_stream_t *target, const uv_buf_t bufs[], unsigned count,
         uv_write_cb written),
        (self, target, bufs, count, written), UV_ENOMEM)
WRAPPED(int, uv_shutdown, (uv_shutdown_t * state, uv_stream_t *owner, uv_shutdown_cb done),
        (state, owner, done), UV_ENOTCONN)

#endif
