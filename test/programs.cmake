# SPDX-License-Identifier: MIT
# Tests, simulation, benchmarks and fuzzers: one executable a file, with a view of src/.

function(add_firn_program folder name)
    cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
    add_executable(${name} ${arg_SOURCES})
    target_include_directories(${name} PRIVATE src)
    target_compile_definitions(${name} PRIVATE FIRN_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
        FIRN_BUILD_DIR="${PROJECT_BINARY_DIR}")
    target_compile_options(${name} PRIVATE -Wno-missing-field-initializers) # of firn_request
    target_link_libraries(${name} PRIVATE firn_static ${arg_LIBRARIES} Threads::Threads m)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
endfunction()

if(FIRN_TESTS OR FIRN_STORE_TESTS)
    if(FIRN_PURE)
        file(GLOB sources CONFIGURE_DEPENDS test/*_pure_test.c)
    elseif(FIRN_STATIC) # those that load no library and need neither TLS nor another store
        file(GLOB sources CONFIGURE_DEPENDS test/*_pure_test.c test/store_test.c test/server_*_test.c test/gen_*test.c
            test/segment_*test.c test/claims_*test.c test/windows_*test.c test/edges_test.c test/job_test.c)
        list(FILTER sources EXCLUDE REGEX "/(server_(failing|request)|gen_runs)_test[.]c$")
    elseif(NOT FIRN_TESTS)
        set(sources test/store_test.c test/driver_test.c test/law_test.c test/closing_test.c)
    else()
        file(GLOB sources CONFIGURE_DEPENDS test/*_test.c)
    endif()
    set(patterns)
    if(FIRN_SHORT) # of the programs with sanitizers, those that ./run test runs
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS test/long)
        file(STRINGS test/long patterns REGEX "^[^#]")
        list(TRANSFORM patterns REPLACE " .*" "")
        string(REGEX REPLACE ",.*" "" kind "${FIRN_SANITIZE}")
    endif()
    foreach(source ${sources})
        get_filename_component(name ${source} NAME_WE)
        set(left_out OFF)
        foreach(pattern ${patterns})
            if("${kind}/${name}" MATCHES "^(${pattern})$")
                set(left_out ON)
            endif()
        endforeach()
        if(left_out)
            continue()
        endif()
        file(STRINGS ${source} threads REGEX pthread_create)
        string(REGEX MATCH "^(server|command|lab)_" program ${name}) # whose objects the test needs
        if(program AND NOT TARGET firn_${program}objects)
            continue()
        elseif(threads OR NOT FIRN_SANITIZE STREQUAL "thread") # as test/run-all chooses
            add_firn_program(test ${name} SOURCES ${source} LIBRARIES cmocka)
            # Nothing measures the tests themselves, so compiling them takes half the time.
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:-Og;-g1>")
            if(program)
                target_link_libraries(${name} PRIVATE firn_${program}objects)
            endif()
            file(STRINGS ${source} modules REGEX "modules/module.h")
            if(modules)
                target_link_libraries(${name} PRIVATE firn_module)
            endif()
        endif()
    endforeach()
endif()

if(TARGET spec_pure_test)
    find_library(FIRN_JANSSON NAMES libjansson.a jansson REQUIRED)
    target_link_libraries(spec_pure_test PRIVATE ${FIRN_JANSSON})
    if(FIRN_PURE OR FIRN_STATIC)
        target_compile_definitions(spec_pure_test PRIVATE FIRN_PURE)
    endif()
endif()

if(FIRN_STATIC)
    return()
endif()

if(FIRN_TESTS)
    if(TARGET fork_steps_pure_test AND NOT FIRN_SANITIZE AND NOT FIRN_PURE)
        # Without optimisation, a counter is copied in many steps: a handler may fork between any two. The files that a call
        # of firn_next for a counted ID passes through.
        set(passed ${library_sources})
        list(FILTER passed INCLUDE REGEX "/(fork_memory|issue|issue_counted|next|now|thread_cache)[.]c$")
        add_firn_program(test fork_steps_unoptimized_test SOURCES test/fork_steps_pure_test.c ${passed} LIBRARIES cmocka)
        target_compile_options(fork_steps_unoptimized_test PRIVATE -O0 -U_FORTIFY_SOURCE -w)
        target_compile_definitions(fork_steps_unoptimized_test PRIVATE ONLY="objectid*")
    endif()

    if(TARGET store_urls_test) # a program whose functions have the names of a module's library
        target_link_options(store_urls_test PRIVATE -Wl,--export-dynamic-symbol=json_object)
    endif()

    # The calls that these tests refuse: each has a wrapper for them.
    function(wrap_calls name)
        if(TARGET ${name})
            foreach(call ${ARGN})
                target_link_options(${name} PRIVATE -Wl,--wrap=${call})
            endforeach()
        endif()
    endfunction()
    wrap_calls(failing_test malloc calloc realloc strdup free mmap64 madvise getrandom clock_gettime nanosleep getifaddrs
        fopen64 pthread_key_create pthread_setspecific pthread_mutex_init dlopen dlsym)
    wrap_calls(edges_store_test firn__module_symbol)
    wrap_calls(gen_runs_test firn__entropy_fill)
    wrap_calls(job_bounds_test SHA256Final calloc)
    wrap_calls(machine_test firn__reserve_grant firn__store_drive firn__store_has_law firn__store_known firn_store_reserve
        firn_store_give_back firn_store_list firn_store_now firn_store_relabel fopen64)
    wrap_calls(order_test firn__module_symbol)
    wrap_calls(renew_test madvise)
    wrap_calls(shared_test pthread_mutexattr_setrobust)
    wrap_calls(random_test getrandom dlsym firn__processor_noise)
    wrap_calls(fork_memory_test mmap64 munmap madvise calloc pthread_atfork sched_yield)
    wrap_calls(server_failing_test
        malloc calloc realloc aligned_alloc strdup open_memstream fopen64 fstat64 lstat64 chmod flock
        getrandom getrlimit64 localtime_r socket listen accept4 setsockopt getsockopt getsockname
        getpeername getaddrinfo getnameinfo eventfd pthread_create json_array json_object
        json_array_append_new json_object_set_new json_dumps json_pack MHD_create_response_from_buffer
        gnutls_init gnutls_priority_init gnutls_priority_set gnutls_credentials_set
        gnutls_certificate_allocate_credentials gnutls_certificate_set_x509_key_mem
        gnutls_pcert_list_import_x509_raw gnutls_privkey_init gnutls_load_file
        gnutls_record_send gnutls_record_recv uv_loop_init uv_async_init uv_poll_init uv_thread_create
        uv_tcp_init uv_tcp_open uv_pipe_init uv_pipe_open uv_read_start uv_try_write uv_write uv_shutdown
        main)
    if(TARGET server_failing_test) # it is the server, which its tests start
        target_sources(server_failing_test PRIVATE $<TARGET_OBJECTS:firn_server>)
    endif()

    # Each links the module that it is for, and wraps the calls that its lines with CALL name (test/calls.h).
    file(GLOB sources CONFIGURE_DEPENDS test/calls_*_test.c)
    foreach(source ${sources})
        string(REGEX REPLACE ".*/calls_(.*)_test[.]c" "\\1" module ${source})
        if(TARGET calls_${module}_test)
            target_sources(calls_${module}_test PRIVATE $<TARGET_OBJECTS:module_${module}>)
            target_link_libraries(calls_${module}_test PRIVATE $<TARGET_PROPERTY:module_${module},LINK_LIBRARIES>)
            target_include_directories(calls_${module}_test PRIVATE $<TARGET_PROPERTY:module_${module},INCLUDE_DIRECTORIES>)
            foreach(file test/calls.h ${source})
                set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
                file(STRINGS ${file} calls REGEX "^CALL(_BY_HAND)?[(]")
                foreach(call ${calls})
                    string(REGEX REPLACE "^CALL[_A-Z]*[(][^,]+, ([A-Za-z0-9_]+),.*" "\\1" call "${call}")
                    target_link_options(calls_${module}_test PRIVATE -Wl,--wrap=${call})
                endforeach()
            endforeach()
        endif()
    endforeach()

    # Sources with the bug of sim/bugs/BUG.patch, as files of the build: those that it changes, and with a header that
    # it changes also `users`, which include it.
    function(inject_bug out bug users)
        set(patch sim/bugs/${bug}.patch)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${patch})
        file(STRINGS ${patch} files REGEX "^--- a/")
        list(TRANSFORM files REPLACE "^--- a/" "")
        if(files MATCHES "[.]h(;|$)")
            list(APPEND files ${users})
            list(REMOVE_DUPLICATES files)
        endif()
        set(injected "")
        foreach(file ${files})
            set(copy ${PROJECT_BINARY_DIR}/sim/bugs/${bug}/${file})
            add_custom_command(OUTPUT ${copy} COMMAND sim/inject ${patch} ${file} ${copy}
                DEPENDS sim/inject ${patch} ${file} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
            list(APPEND injected ${copy})
        endforeach()
        set(${out} ${injected} PARENT_SCOPE)
    endfunction()

    # Each includes the module that it is for, over a scripted server.
    file(GLOB sources CONFIGURE_DEPENDS test/scripted_*_test.c)
    foreach(source ${sources})
        string(REGEX REPLACE ".*/scripted_(.*)_test[.]c" "\\1" module ${source})
        if(TARGET scripted_${module}_test)
            target_link_libraries(scripted_${module}_test PRIVATE $<TARGET_PROPERTY:module_${module},LINK_LIBRARIES>)
            target_include_directories(scripted_${module}_test PRIVATE $<TARGET_PROPERTY:module_${module},INCLUDE_DIRECTORIES>)
        endif()
    endforeach()

    # Real engines that fail, and clients on them: test/torture.sh, make torture.
    file(GLOB sources CONFIGURE_DEPENDS test/torture/*.c)
    if(sources AND NOT FIRN_PURE AND NOT FIRN_SANITIZE)
        add_firn_program(test torture SOURCES ${sources})
        # Its control is a library whose windows outlive a fork.
        inject_bug(injected nofork "")
        add_firn_program(test torture_nofork SOURCES $<TARGET_OBJECTS:torture> ${injected})
        target_compile_options(torture_nofork PRIVATE -w)
        add_firn_program(test outlive SOURCES test/outlive/outlive.c) # processes with reserves, and their judge
    endif()

    # The simulation. The files of the library that threads meet in are compiled again, with a place to change threads
    # before each atomic operation (sim/preempt.h).
    set(core next issue issue_slots issue_random issue_counted now window claim renewal shared segment)
    list(TRANSFORM core REPLACE "(.+)" "src/\\1.c")
    function(add_firn_sim_core target)
        add_library(${target} OBJECT ${ARGN})
        target_include_directories(${target} PRIVATE include src)
        target_compile_options(${target} PRIVATE -include ${PROJECT_SOURCE_DIR}/sim/preempt.h)
    endfunction()

    # With an injected bug, the files that its patch changes are compiled; every other object is from firn_sim.
    function(add_firn_sim_bug bug)
        set(name firn_sim_${bug})
        inject_bug(others ${bug} "${core}")
        set(meeting "")
        foreach(file ${core})
            set(copy ${PROJECT_BINARY_DIR}/sim/bugs/${bug}/${file})
            if(copy IN_LIST others)
                list(APPEND meeting ${copy})
                list(REMOVE_ITEM others ${copy})
            endif()
        endforeach()
        set(objects $<TARGET_OBJECTS:firn_sim_objects>)
        list(JOIN meeting "|" replaced)
        string(REPLACE "${PROJECT_BINARY_DIR}/sim/bugs/${bug}/" "" replaced "${replaced}")
        if(meeting)
            set(headers ${others}) # they are made before what includes them
            list(FILTER headers INCLUDE REGEX "[.]h$")
            add_firn_sim_core(${name}_core ${meeting} ${headers})
            target_compile_options(${name}_core PRIVATE -w -O1)
            list(APPEND objects $<TARGET_OBJECTS:${name}_core> "$<FILTER:$<TARGET_OBJECTS:firn_sim_core>,EXCLUDE,/(${replaced})[.]o$>")
        else()
            list(APPEND objects $<TARGET_OBJECTS:firn_sim_core>)
        endif()
        add_firn_program(sim ${name} SOURCES ${objects} ${others})
        target_compile_options(${name} PRIVATE -w)
        wrap_calls(${name} firn__processor_noise)
    endfunction()

    file(GLOB sources CONFIGURE_DEPENDS sim/*.c)
    if(sources AND NOT FIRN_PURE AND NOT FIRN_SANITIZE STREQUAL "thread")
        add_firn_sim_core(firn_sim_core ${core})
        # Its hooks are called before each swap.
        target_sources(issue_paths_test PRIVATE $<TARGET_OBJECTS:firn_sim_core>)
        wrap_calls(issue_paths_test firn__renewal_lock firn__renewal_unlock firn__block_open firn__block_close)
    endif()
    if(sources AND NOT FIRN_PURE AND NOT FIRN_SANITIZE)
        add_library(firn_sim_objects OBJECT ${sources})
        target_include_directories(firn_sim_objects PRIVATE include src)
        target_compile_options(firn_sim_objects PRIVATE -Wno-missing-field-initializers) # of firn_request
        add_firn_program(sim firn_sim SOURCES $<TARGET_OBJECTS:firn_sim_objects> $<TARGET_OBJECTS:firn_sim_core>)
        wrap_calls(firn_sim firn__processor_noise)
        # With one injected bug each: the simulation must find it.
        file(GLOB bugs CONFIGURE_DEPENDS sim/bugs/*.patch)
        foreach(bug ${bugs})
            get_filename_component(name ${bug} NAME_WE)
            add_firn_sim_bug(${name})
        endforeach()
    endif()
endif()

# Measures firn's cost on real engines, compared with bare statements of the client libraries that the modules use.
if((FIRN_TESTS OR FIRN_BENCH) AND TARGET firn_lab_objects AND NOT FIRN_SANITIZE)
    file(GLOB sources CONFIGURE_DEPENDS bench/engines/*.c)
    foreach(module postgres mysql redis etcd zookeeper)
        if(NOT TARGET module_${module})
            message(FATAL_ERROR "bench/ needs the module ${module}: ./run all installs what it lacks")
        endif()
    endforeach()
    add_firn_program(bench firn_bench_engines SOURCES ${sources} LIBRARIES firn_lab_objects
        ${FIRN_LIB_pq} ${FIRN_LIB_mariadb} ${FIRN_LIB_hiredis} ${FIRN_LIB_curl-gnutls} ${FIRN_LIB_zookeeper_mt})
    target_include_directories(firn_bench_engines PRIVATE ${FIRN_POSTGRES_INCLUDE} ${FIRN_MYSQL_INCLUDE})
endif()

# The client with which bench/server/compare.py and test/serve_*.sh ask servers.
file(GLOB sources CONFIGURE_DEPENDS bench/server/*.c)
if(sources AND NOT FIRN_PURE AND NOT FIRN_FUZZ AND NOT FIRN_SANITIZE)
    add_firn_program(bench firn_load SOURCES ${sources})
    if(NOT FIRN_TESTS)
        set_target_properties(firn_load PROPERTIES EXCLUDE_FROM_ALL ON) # make bench-server
    endif()
endif()

if(FIRN_FUZZ)
    file(GLOB sources CONFIGURE_DEPENDS fuzz/*_fuzz.c)
    foreach(source ${sources})
        get_filename_component(name ${source} NAME_WE)
        add_firn_program(fuzz ${name} SOURCES ${source} LIBRARIES -fsanitize=fuzzer)
    endforeach()
    # The readers of records are the command's.
    if(TARGET records_fuzz)
        file(GLOB sources CONFIGURE_DEPENDS cmd/stamp/records*.c cmd/stamp/moments.c cmd/stamp/zone.c cmd/shared/report.c)
        target_sources(records_fuzz PRIVATE ${sources})
        target_include_directories(records_fuzz PRIVATE cmd)
        target_link_libraries(records_fuzz PRIVATE firn_common)
    endif()
    # So is the scanner of `firn show --find`.
    if(TARGET scan_fuzz)
        target_sources(scan_fuzz PRIVATE cmd/ids/scan.c)
        target_include_directories(scan_fuzz PRIVATE cmd)
        target_link_libraries(scan_fuzz PRIVATE firn_common)
    endif()
    target_link_libraries(masks_fuzz PRIVATE firn_common)
    # Each includes the module that it is for; the libraries are the same as in add_firn_module_where above.
    foreach(module postgres mysql redis etcd zookeeper)
        target_link_libraries(${module}_fuzz PRIVATE firn_module)
    endforeach()
    find_path(FIRN_POSTGRES_INCLUDE libpq-fe.h PATH_SUFFIXES postgresql)
    find_path(FIRN_MYSQL_INCLUDE mysql.h PATH_SUFFIXES mariadb)
    target_include_directories(postgres_fuzz PRIVATE ${FIRN_POSTGRES_INCLUDE})
    target_include_directories(mysql_fuzz PRIVATE ${FIRN_MYSQL_INCLUDE})
    target_link_libraries(postgres_fuzz PRIVATE pq)
    target_link_libraries(mysql_fuzz PRIVATE mariadb)
    target_link_libraries(redis_fuzz PRIVATE hiredis gnutls)
    target_link_libraries(etcd_fuzz PRIVATE curl-gnutls jansson gnutls)
    target_link_libraries(zookeeper_fuzz PRIVATE zookeeper_mt)
    # serve_fuzz plays the listeners, their connections and libmicrohttpd.
    file(GLOB sources CONFIGURE_DEPENDS server/*/*.c)
    list(FILTER sources EXCLUDE REGEX "/(run/main|http/clients|http_listener|resp_listener)[.]c$")
    set(listeners ${sources})
    list(FILTER sources EXCLUDE REGEX "/server/(http|resp|run)/")
    list(FILTER listeners INCLUDE REGEX "/server/(http|resp|run)/")
    add_library(fuzzed_server OBJECT ${sources})
    target_include_directories(fuzzed_server PRIVATE server)
    target_link_libraries(fuzzed_server PRIVATE firn_common)
    target_sources(serve_fuzz PRIVATE ${listeners})
    foreach(fuzzed serve config)
        target_sources(${fuzzed}_fuzz PRIVATE $<TARGET_OBJECTS:fuzzed_server>)
        target_include_directories(${fuzzed}_fuzz PRIVATE server)
        target_link_libraries(${fuzzed}_fuzz PRIVATE firn_common uv gnutls)
    endforeach()
    # tokens_fuzz includes the reader of tokens.
    target_sources(tokens_fuzz PRIVATE common/errors.c server/core/text_view.c)
    target_include_directories(tokens_fuzz PRIVATE server common)
    target_link_libraries(tokens_fuzz PRIVATE md)
    if(TARGET resp_fuzz)
        target_sources(resp_fuzz PRIVATE server/resp/resp.c server/core/text_view.c)
        target_include_directories(resp_fuzz PRIVATE server ${FIRN_JANSSON_INCLUDE})
        target_link_libraries(resp_fuzz PRIVATE ${FIRN_JANSSON})
    endif()
endif()
