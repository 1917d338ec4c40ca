/* SPDX-License-Identifier: MIT */
/* The system can refuse the server any call: memory, sockets, threads, TLS, JSON. This program is
 * the server: the linker puts __wrap_main before its main, and replaces the libraries' functions
 * with those here. For each command, path and reload, each call is refused in turn. The client then
 * gets a reply, one error or the end of its connection, the server stays alive, and the same
 * request succeeds afterwards. If a refused call prevents the start, the server ends with one line
 * that says why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <jansson.h>
#include <microhttpd.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "folder.h"
#include "sanitized.h"
#include "server_refused.h"

enum {
    CALLS_MOST = 10000, /* of one request, or of a start */
    ALL_OF = 200,       /* the first calls are refused one by one, then each STRIDE-th */
    STRIDE = 37,
    PATIENCE_S = 60,
    /* Sanitizers make a start slow, and see each mistake in every fifth call as well. */
    STEP = SANITIZED ? 5 : 1
};

/* ---- calls that fail ------------------------------------------------------------------------ */

/* Shared with the server's process. */
static struct control {
    _Atomic long failing; /* which call fails, counted from 1; 0: none */
    _Atomic long calls;   /* since it was set */
    bool accepts;         /* accept4 is not refused: the server rests for a second then */
    bool starter_only;
    char refused[40]; /* the name of the last one */
} * control;

static bool serves; /* this process is the server */
static pthread_t starter;

/* The thread that starts and reloads makes the same calls each time if the others' are not
 * counted. */
static bool fails(const char *name) {
    long failing = serves ? atomic_load(&control->failing) : 0;
    if (failing == 0 || (control->accepts && strcmp(name, "accept4") == 0) ||
        (control->starter_only && pthread_equal(pthread_self(), starter) == 0) ||
        atomic_fetch_add(&control->calls, 1) + 1 != failing) {
        return false;
    }
    snprintf(control->refused, sizeof control->refused, "%s", name);
    return true;
}

static void refuse(long which) {
    atomic_store(&control->failing, 0);
    if (which > 0) {
        control->refused[0] = '\0';
    }
    atomic_store(&control->calls, 0);
    atomic_store(&control->failing, which);
}

/* ---- the server's process ------------------------------------------------------------------- */

static char config_path[300], log_path[300], resp_path[108], http_path[108];
static pid_t server;

static void write_file(const char *path, const char *format, ...) {
    char text[4000];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(length > 0 && (size_t)length < sizeof text);
    assert_true(file >= 0 && write(file, text, (size_t)length) == length);
    close(file);
}

static void configure(const char *settings, const char *sections) {
    write_file(config_path,
               "[server]\nloops = 1\nhttp_threads = 1\nstore = memory:\nunsafe = yes\nwait = "
               "300ms\nauto_create = yes\n%s%s",
               settings, sections);
}

static char log_text[1 << 16];

/* The log since the server started, as far as it fits. */
static const char *read_log(void) {
    int file = open(log_path, O_RDONLY | O_CLOEXEC);
    off_t size = file < 0 ? 0 : lseek(file, 0, SEEK_END);
    off_t from = size < (off_t)sizeof log_text ? 0 : size - (off_t)sizeof log_text + 1;
    ssize_t length = file < 0 ? 0 : pread(file, log_text, sizeof log_text - 1, from);
    close(file);
    log_text[length < 0 ? 0 : length] = '\0';
    return log_text;
}

/* Its last lines, for a message. */
static const char *log_end(void) {
    size_t length = strlen(read_log());
    return log_text + (length > 600 ? length - 600 : 0);
}

int __real_main(int count, char **words);

static void start(long failing) {
    unlink(log_path);
    refuse(failing);
    server = fork();
    assert_true(server >= 0);
    if (server == 0) {
        const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
        for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
            signal(crashes[i], SIG_DFL); /* cmocka's handlers would continue with the next test */
        }
        int file = open(log_path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
        dup2(file, STDERR_FILENO);
        dup2(file, STDOUT_FILENO);
        close(file);
        static char name[] = "firn-serve", config[] = "--config";
        char *words[] = {name, config, config_path, NULL};
        serves = true;
        starter = pthread_self();
        int status = __real_main(3, words);
        serves = false; /* gcov allocates when the process ends */
        if (SANITIZED && status != 0) {
            _exit(status); /* a server that does not start leaves its memory to the system */
        }
        exit(status);
    }
}

static void wait_a_little(void) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Its status when it has ended; -1: it runs. */
static int ended(bool wait) {
    int status;
    pid_t found = waitpid(server, &status, wait ? 0 : WNOHANG);
    if (found != server) {
        return -1;
    }
    if (!WIFEXITED(status)) {
        fail_msg("the server crashed: signal %d, refused %s:\n%s", WTERMSIG(status),
                 control->refused, log_end());
    }
    return WEXITSTATUS(status);
}

/* Until the log has that text, or the server has ended: its status, or -1. */
static int await_log(const char *text) {
    time_t end = time(NULL) + PATIENCE_S;
    for (;;) {
        int status = ended(false);
        if (status >= 0 || strstr(read_log(), text) != NULL) {
            return status;
        }
        if (time(NULL) > end) {
            fail_msg("no %s, refused %s:\n%s", text, control->refused, log_end());
        }
        wait_a_little();
    }
}

static void stop(void) {
    kill(server, SIGTERM);
    time_t end = time(NULL) + PATIENCE_S;
    int status;
    while ((status = ended(false)) < 0) {
        if (time(NULL) > end) {
            kill(server, SIGKILL);
            ended(true);
        }
        wait_a_little();
    }
    if (status != 0) {
        fail_msg("the server ended with %d, refused %s:\n%s", status, control->refused, log_end());
    }
}

/* ---- asking --------------------------------------------------------------------------------- */

enum by { RESP, HTTP, RESP_TCP, RESP_TLS };

/* A request and how its reply begins. A % in it becomes another number each time, a path has a body
 * after a blank. */
typedef struct http_ask {
    enum by sender;
    const char *text, *good;
} http_ask;

static char reply[1 << 20];
static size_t reply_length;

static int connect_unix(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    assert_true(fd >= 0);
    return connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ? fd : (close(fd), -1);
}

/* The first address that the log tells. */
static int connect_tcp(void) {
    const char *found = strstr(read_log(), " address=127.0.0.1:");
    assert_non_null(found);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(strchr(found, ':') + 1)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    return connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ? fd : (close(fd), -1);
}

static bool is_readable(int fd) {
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    int ready = poll(&poll_fd, 1, PATIENCE_S * 1000);
    if (ready != 1) {
        fail_msg("no reply and no end, refused %s:\n%.*s\n%s", control->refused, (int)reply_length,
                 reply, log_end());
    }
    return true;
}

static void read_plain(int fd) {
    ssize_t got = 1;
    while (got > 0 && reply_length < sizeof reply - 1 && is_readable(fd)) {
        got = read(fd, reply + reply_length, sizeof reply - 1 - reply_length);
        reply_length += got > 0 ? (size_t)got : 0;
    }
}

static void ask_tls(int fd, const char *text) {
    gnutls_session_t session;
    gnutls_certificate_credentials_t all;
    struct timeval patience = {.tv_sec = PATIENCE_S};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    gnutls_certificate_allocate_credentials(&all);
    gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL);
    gnutls_set_default_priority(session);
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, all);
    gnutls_transport_set_int(session, fd);
    int code;
    do {
        code = gnutls_handshake(session);
    } while (code < 0 && gnutls_error_is_fatal(code) == 0);
    if (code == 0 && gnutls_record_send(session, text, strlen(text)) > 0) {
        ssize_t got = 1;
        while (got > 0 || got == GNUTLS_E_INTERRUPTED || got == GNUTLS_E_AGAIN) {
            got =
                gnutls_record_recv(session, reply + reply_length, sizeof reply - 1 - reply_length);
            reply_length += got > 0 ? (size_t)got : 0;
        }
    }
    gnutls_deinit(session);
    gnutls_certificate_free_credentials(all);
}

/* The text with another number in place of its %. */
static void fill_in(char *out, size_t size, const char *text) {
    static long number;
    const char *position = strchr(text, '%');
    int length = position == NULL ? snprintf(out, size, "%s", text)
                                  : snprintf(out, size, "%.*s%ld%s", (int)(position - text), text,
                                             ++number, position + 1);
    assert_true(length > 0 && (size_t)length < size);
}

static void write_request(char *out, size_t size, const http_ask *ask) {
    char text[500];
    fill_in(text, sizeof text, ask->text);
    if (ask->sender != HTTP) {
        snprintf(out, size, "%sQUIT\r\n", text);
        return;
    }
    char *body = strchr(text, ' ');
    if (body != NULL) {
        *body++ = '\0';
    }
    snprintf(out, size,
             "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
             "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
             body == NULL ? "GET" : "POST", text, body == NULL ? 0 : strlen(body),
             body == NULL ? "" : body);
}

/* On its own connection, until the server closes it. */
static void send_ask(const http_ask *ask) {
    char text[1000];
    write_request(text, sizeof text, ask);
    reply_length = 0;
    int fd = ask->sender == HTTP   ? connect_unix(http_path)
             : ask->sender == RESP ? connect_unix(resp_path)
                                   : connect_tcp();
    if (fd < 0) {
        ended(false);
        fail_msg("%s: no connection, %s, refused %s:\n%s", ask->text, strerror(errno),
                 control->refused, log_end());
    }
    if (ask->sender == RESP_TLS) {
        ask_tls(fd, text);
    } else {
        ssize_t sent = send(fd, text, strlen(text), MSG_NOSIGNAL);
        (void)sent; /* a connection that the server has closed already gives no reply */
        read_plain(fd);
    }
    close(fd);
    reply[reply_length] = '\0';
}

static bool is_good(const http_ask *ask) {
    return strncmp(reply, ask->good, strlen(ask->good)) == 0;
}

/* A reply, an error of one line, or nothing. */
static bool is_fair(const http_ask *ask) {
    if (reply_length == 0 || is_good(ask)) {
        return true;
    }
    if (ask->sender == HTTP) {
        int status = 0;
        return sscanf(reply, "HTTP/1.1 %d", &status) == 1 && status >= 400 && status <= 599;
    }
    size_t code = strspn(reply + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return reply[0] == '-' && code > 1 && reply[1 + code] == ' ' && strcspn(reply, "\r") > 2 + code;
}

/* Recovery from a refused call may need a moment: a store is tried again, a port is closed. */
static void await_good(const http_ask *ask) {
    time_t end = time(NULL) + PATIENCE_S;
    for (send_ask(ask); !is_good(ask); send_ask(ask)) {
        if (time(NULL) > end) {
            fail_msg("%s is not answered any more but by %.500s\n%s", ask->text, reply, log_end());
        }
        wait_a_little();
    }
}

static void refuse_each_call_of(const http_ask *ask) {
    long which = 1;
    await_good(ask); /* as a client finds the server usually: what is opened once is open */
    control->accepts = strcmp(ask->text, "PING\r\n") != 0;
    for (bool met = true; met; which += which < ALL_OF ? 1 : STRIDE) {
        refuse(which);
        send_ask(ask);
        met = atomic_load(&control->calls) >= which;
        refuse(0);
        if (ended(false) >= 0) {
            fail_msg("%s: the server ended, refused %s:\n%s", ask->text, control->refused,
                     log_end());
        }
        if (!is_fair(ask)) {
            fail_msg("%s, call %ld: %.500s\n%s", ask->text, which, reply, log_end());
        }
        assert_true(which < CALLS_MOST);
    }
    await_good(ask);
}

/* ---- requests ------------------------------------------------------------------------------- */

#define NEW_SECTIONS                                                                               \
    "[generator wide]\nscheme = uuid7\n[generator pressed]\nscheme = ulid\nas = hex\n"             \
    "[generator typed]\nscheme = typeid\nprefix = user\n[segment tickets]\nkind = ticket\n"        \
    "increment = 3\n"

static const http_ask asks[] = {
    {RESP, "PING\r\n", "+PONG"},
    {RESP, "INCR orders\r\n", ":"},
    {RESP, "INCR fresh%\r\n", ":"},
    {RESP, "INCRBY orders 10\r\n", ":"},
    {RESP, "INCR tickets\r\n", ":"},
    {RESP, "GET orders\r\n", "$"},
    {RESP, "FIRN.NEW snowflake\r\n", "$"},
    {RESP, "FIRN.NEW snowflake COUNT 3\r\n", "*3"},
    {RESP, "FIRN.NEW snowflake COUNT 60000\r\n", "*60000"},
    {RESP, "FIRN.NEW snowflake TIME 2024-01-01 COUNT 2\r\n", "*2"},
    {RESP, "FIRN.NEW wide COUNT 2\r\n", "*2"},
    {RESP, "FIRN.NEW wide TIME 2024-01-01\r\n", "$"},
    {RESP, "FIRN.NEW typed\r\n", "$"},
    {RESP, "FIRN.NEW uuid5 namespace dns name example.org\r\n", "$"},
    {RESP, "FIRN.BLOCK orders COUNT 10\r\n", "*"},
    {RESP, "FIRN.RUNS snowflake COUNT 10\r\n", "*"},
    {RESP, "FIRN.PACK snowflake time 2024-01-01 worker 3 datacenter 1 sequence 7\r\n", "$"},
    {RESP, "FIRN.SHOW 1541815603606036480\r\n", "*"},
    {RESP, "FIRN.RANGE snowflake 2024-01-01 2024-01-02\r\n", "*"},
    {RESP, "FIRN.CONVERT 0190163d-8694-739b-aea5-966c26f8ad91 base58\r\n", "$"},
    {RESP, "FIRN.SCHEMES\r\n", "*"},
    {RESP, "FIRN.SCHEMES snowflake\r\n", "*"},
    {RESP, "FIRN.NODES\r\n", "*"},
    {RESP, "INFO\r\n", "$"},
    {RESP, "CLIENT LIST\r\n", "$"},
    {RESP, "COMMAND DOCS\r\n", "*"},
    {RESP, "CONFIG GET *\r\n", "*"},
    {RESP, "HELLO 3 SETNAME me\r\n", "%"},
    {RESP, "MULTI\r\nINCR orders\r\nFIRN.NEW wide\r\nEXEC\r\n", "+OK"},
    {RESP_TCP, "PING\r\n", "+PONG"},
    {HTTP, "/v1/new/snowflake", "HTTP/1.1 200"},
    {HTTP, "/v1/new/snowflake?n=3&format=text", "HTTP/1.1 200"},
    {HTTP, "/v1/new/snowflake?n=60000", "HTTP/1.1 200"},
    {HTTP, "/v1/new/wide?n=3", "HTTP/1.1 200"},
    {HTTP, "/v1/new/wide?n=3&time=2024-01-01", "HTTP/1.1 200"},
    {HTTP, "/v1/new/snowflake {\"n\":3,\"time\":\"2024-01-01\"}", "HTTP/1.1 200"},
    {HTTP, "/v1/runs/snowflake?n=10", "HTTP/1.1 200"},
    {HTTP, "/v1/block/orders?n=10", "HTTP/1.1 200"},
    {HTTP, "/v1/segments/orders", "HTTP/1.1 200"},
    {HTTP, "/v1/segments/fresh%", "HTTP/1.1 200"},
    {HTTP, "/v1/segments/orders?n=10", "HTTP/1.1 200"},
    {HTTP, "/v1/segments/orders/last", "HTTP/1.1 200"},
    {HTTP, "/v1/range/snowflake?from=2024-01-01&to=2024-01-02", "HTTP/1.1 200"},
    {HTTP, "/v1/pack/snowflake?time=2024-01-01&worker=3&datacenter=1&sequence=7", "HTTP/1.1 200"},
    {HTTP, "/v1/show/1541815603606036480", "HTTP/1.1 200"},
    {HTTP, "/v1/show/1541815603606036480?format=text", "HTTP/1.1 200"},
    {HTTP, "/v1/convert/1541815603606036480?to=hex", "HTTP/1.1 200"},
    {HTTP, "/v1/schemes", "HTTP/1.1 200"},
    {HTTP, "/v1/schemes/uuid7", "HTTP/1.1 200"},
    {HTTP, "/v1/nodes", "HTTP/1.1 200"},
    {HTTP, "/v1/status", "HTTP/1.1 200"},
    {HTTP, "/v1/spread/snowflake", "HTTP/1.1 200"},
    {HTTP, "/metrics", "HTTP/1.1 200"},
    {HTTP, "/readyz", "HTTP/1.1 200"},
    {HTTP, "/healthz", "HTTP/1.1 200"},
    {HTTP, "/openapi.json", "HTTP/1.1 200"},
    {HTTP, "/", "HTTP/1.1 200"},
    {HTTP, "/api/snowflake/get/test", "HTTP/1.1 200"},
    {HTTP, "/decodeSnowflakeId?snowflakeId=1541815603606036480", "HTTP/1.1 200"},
    {HTTP, "/nothing", "HTTP/1.1 404"},
};

static void set_addresses(const char *more) {
    char settings[2000];
    snprintf(settings, sizeof settings, "resp = 127.0.0.1:0 unix:%s\nhttp = unix:%s\n%s", resp_path,
             http_path, more);
    configure(settings, NEW_SECTIONS);
}

static void each_call_for_a_request_may_be_refused(void **state) {
    (void)state;
    set_addresses("");
    start(0);
    assert_int_equal(await_log("event=serving"), -1);
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        refuse_each_call_of(&asks[i]);
    }
    stop();
}

static bool make_certificate(void) {
    char command[1000];
    snprintf(command, sizeof command,
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "
             "/CN=localhost -keyout '%s/key.pem' -out '%s/cert.pem' 2>/dev/null",
             folder, folder);
    return system(command) == 0;
}

static void set_secrets(void) {
    char settings[1000], tokens[300];
    snprintf(tokens, sizeof tokens, "%s/tokens", folder);
    write_file(tokens, "# who\nissue issue-token-of-test-0001\nadmin admin-token-of-test-0002\n");
    snprintf(settings, sizeof settings,
             "tls_cert = %s/cert.pem\ntls_key = %s/key.pem\n"
             "tokens = %s/tokens\n",
             folder, folder, folder);
    set_addresses(settings);
}

static void each_call_for_tls_and_a_token_may_be_refused(void **state) {
    static const http_ask secret[] = {
        {RESP_TLS, "AUTH issue-token-of-test-0001\r\nINCR orders\r\n", "+OK\r\n:"},
        {RESP_TLS, "HELLO 3 AUTH default admin-token-of-test-0002\r\n", "%"},
    };
    (void)state;
    if (!make_certificate()) {
        skip(); /* no openssl */
    }
    set_secrets();
    start(0);
    assert_int_equal(await_log("event=serving"), -1);
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++) {
        refuse_each_call_of(&secret[i]);
    }
    stop();
}

/* ---- the start and the reload --------------------------------------------------------------- */

/* A refused start prints one line, with a matching status. */
static void judge_refused_start(int status) {
    const char *log = read_log(), *line = strstr(log, "firn: ");
    bool alone = line != NULL && strchr(line, '\n') == line + strlen(line) - 1;
    if (status < 2 || status > 6 || !alone) {
        fail_msg("a start with %s refused ended with %d and\n%s", control->refused, status, log);
    }
}

static void each_call_of_a_start_may_be_refused(void **state) {
    long which = 1, refusals = 0;
    (void)state;
    make_certificate() ? set_secrets() : set_addresses("");
    control->starter_only = true;
    for (bool met = true; met; which += STEP) {
        start(which);
        int status = await_log("event=serving");
        met = atomic_load(&control->calls) >= which;
        refuse(0);
        if (status < 0) {
            stop();
        } else {
            refusals++;
            judge_refused_start(status);
        }
        assert_true(which < CALLS_MOST);
    }
    assert_true(refusals > 0);
}

static void each_call_of_a_reload_may_be_refused(void **state) {
    const http_ask after = {RESP, "INCR orders\r\n", ":"};
    long which = 1;
    (void)state;
    set_addresses("");
    control->starter_only = true;
    start(0);
    assert_int_equal(await_log("event=serving"), -1);
    for (bool met = true; met; which++) {
        char sections[1000];
        snprintf(sections, sizeof sections,
                 "%s[generator g%ld]\nscheme = snowflake\nns = g%ld\n[segment s%ld]\nstart = 5\n",
                 which % 2 == 0 ? "max_block = 500\n" : "", which, which, which);
        set_addresses(sections);
        assert_int_equal(truncate(log_path, 0), 0);
        refuse(which);
        kill(server, SIGHUP);
        assert_int_equal(await_log("reload"), -1);
        met = atomic_load(&control->calls) >= which;
        refuse(0);
        await_good(&after);
        assert_true(which < CALLS_MOST);
    }
    stop();
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int set_up_all(void **state) {
    control =
        mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (control == MAP_FAILED || set_up_in_memory(state) != 0) {
        return 1;
    }
    snprintf(config_path, sizeof config_path, "%.250s/firn.ini", folder);
    snprintf(log_path, sizeof log_path, "%.250s/log", folder);
    snprintf(resp_path, sizeof resp_path, "%.90s/resp", folder);
    snprintf(http_path, sizeof http_path, "%.90s/http", folder);
    signal(SIGPIPE, SIG_IGN);
    return 0;
}

static int end_server(void **state) {
    (void)state;
    if (server > 0 && waitpid(server, NULL, WNOHANG) == 0) {
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
    }
    return 0;
}

int __wrap_main(int count, char **words);
int __wrap_main(int count, char **words) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_call_for_a_request_may_be_refused, end_server),
        cmocka_unit_test_teardown(each_call_for_tls_and_a_token_may_be_refused, end_server),
        cmocka_unit_test_teardown(each_call_of_a_start_may_be_refused, end_server),
        cmocka_unit_test_teardown(each_call_of_a_reload_may_be_refused, end_server),
    };
    if (count > 1) {
        cmocka_set_test_filter(words[1]);
    }
    return cmocka_run_group_tests(tests, set_up_all, tear_down);
}
