# What `make install` puts where: program, headers, both libraries, documents, and the two ways to find the libraries,
# pkg-config and find_package(covtune). Man pages and completion: cmake/manual.cmake. Both are relocatable: they know no absolute prefix.
include(CMakePackageConfigHelpers)
set(PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/covtune)

if(TARGET covtune)
  install(TARGETS covtune)
endif()
install(DIRECTORY include/covtune DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY recipes DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.c")

# The static library has an export file of its own, because it alone drags in other packages.
set_target_properties(covtune_shared PROPERTIES EXPORT_NAME covtune)
set_target_properties(covtune_static PROPERTIES EXPORT_NAME static)
foreach(kind shared static)
  install(TARGETS covtune_${kind} EXPORT covtune_${kind})
  install(EXPORT covtune_${kind} FILE covtune-${kind}.cmake NAMESPACE covtune:: DESTINATION ${PACKAGE_DIR})
endforeach()

configure_package_config_file(cmake/covtuneConfig.cmake.in ${CMAKE_BINARY_DIR}/covtuneConfig.cmake
  INSTALL_DESTINATION ${PACKAGE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/covtuneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/covtuneConfig.cmake ${CMAKE_BINARY_DIR}/covtuneConfigVersion.cmake
  cmake/dependencies.cmake DESTINATION ${PACKAGE_DIR})

# pkg-config. Libs.private names what libcovtune.a calls, and the folders where no linker looks by
# itself.
set(folders ${covtune_jansson_LIBRARY_DIRS} ${covtune_libcyaml_LIBRARY_DIRS} ${covtune_nlopt_LIBRARY_DIRS})
foreach(name ${COVTUNE_SUITESPARSE})
  get_filename_component(folder ${COVTUNE_${name}_LIBRARY} DIRECTORY)
  list(APPEND folders ${folder})
endforeach()
list(REMOVE_DUPLICATES folders)
list(REMOVE_ITEM folders ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
list(TRANSFORM folders PREPEND -L)
set(libraries jansson cyaml yaml nlopt ${COVTUNE_SUITESPARSE})
foreach(pair ZLIB:z BZIP2:bz2 LZ4:lz4 ZSTD:zstd SQLITE3:sqlite3 PROJ:proj)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 name)
  if(COVTUNE_HAS_${name})
    list(GET pair 1 library)
    list(APPEND libraries ${library})
  endif()
endforeach()
list(APPEND libraries pthread m)
list(TRANSFORM libraries PREPEND -l)
list(JOIN folders " " PC_FOLDERS)
list(JOIN libraries " " PC_LIBRARIES)
file(RELATIVE_PATH PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" PC_TO_PREFIX ${PC_TO_PREFIX})
configure_file(cmake/covtune.pc.in ${CMAKE_BINARY_DIR}/covtune.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/covtune.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
