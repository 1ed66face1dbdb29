# build/generated/covtune_commit.h, written again when a commit is made, checked out or amended: git then appends to
# logs/HEAD. Only src/cli/common/version.c includes it, so nothing else is compiled again.
set(COVTUNE_GENERATED ${CMAKE_BINARY_DIR}/generated)
set(COVTUNE_COMMIT_H ${COVTUNE_GENERATED}/covtune_commit.h)
file(MAKE_DIRECTORY ${COVTUNE_GENERATED})
find_program(COVTUNE_GIT git)
mark_as_advanced(COVTUNE_GIT)
set(watched "")
if(COVTUNE_GIT AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND ${COVTUNE_GIT} -C ${PROJECT_SOURCE_DIR} rev-parse --absolute-git-dir
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  foreach(name logs/HEAD HEAD)
    if(EXISTS ${folder}/${name})
      list(APPEND watched ${folder}/${name})
    endif()
  endforeach()
endif()
add_custom_command(OUTPUT ${COVTUNE_COMMIT_H}
  COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D OUT=${COVTUNE_COMMIT_H} -P ${PROJECT_SOURCE_DIR}/cmake/commit.cmake
  DEPENDS ${watched} ${PROJECT_SOURCE_DIR}/cmake/commit.cmake VERBATIM)

# What the program is made of, for --version.
set(COVTUNE_LIBRARIES "jansson ${covtune_jansson_VERSION}, libcyaml ${covtune_libcyaml_VERSION}, libyaml ${covtune_yaml-0.1_VERSION}, NLopt ${covtune_nlopt_VERSION}, SuiteSparse (AMD, CAMD, CCOLAMD)")
set(COVTUNE_RECORDINGS "")
foreach(name zlib bzip2 liblz4 libzstd sqlite3 proj) # as in cmake/dependencies.cmake
  string(TOUPPER ${name} NAME)
  string(REGEX REPLACE "^LIB" "" NAME ${NAME})
  string(REGEX REPLACE "^lib" "" word ${name})
  if(COVTUNE_HAS_${NAME})
    string(STRIP "${word} ${covtune_${name}_VERSION}" word)
    list(APPEND COVTUNE_RECORDINGS ${word})
  else()
    list(APPEND COVTUNE_RECORDINGS "no ${word}")
  endif()
endforeach()
list(JOIN COVTUNE_RECORDINGS ", " COVTUNE_RECORDINGS)
set_source_files_properties(src/cli/common/version.c PROPERTIES
  OBJECT_DEPENDS ${COVTUNE_COMMIT_H}
  COMPILE_DEFINITIONS "COVTUNE_LIBRARIES=\"${COVTUNE_LIBRARIES}\";COVTUNE_RECORDINGS=\"${COVTUNE_RECORDINGS}\";COVTUNE_SANITIZERS=\"${COVTUNE_SANITIZE}\";COVTUNE_MPI=\"${COVTUNE_MPI}\""
  INCLUDE_DIRECTORIES ${COVTUNE_GENERATED})
