# cmake -D SOURCE=DIR -D OUT=FILE -P commit.cmake: writes the commit of the tree into a header of one line, "unknown" where
# the tree is no git repository of its own, such as an unpacked archive. One small file includes it.
set(commit "unknown")
find_program(GIT git)
if(GIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE hash OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit ${hash})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define COVTUNE_COMMIT \"${commit}\"\n")
