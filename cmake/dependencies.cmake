# The libraries that covtune is linked with, as targets: COVTUNE_DEPENDENCIES lists those found,
# covtune_MISSING names the others. The build includes this file, and it is installed beside
# covtuneConfig.cmake for those who link the static library.
set(COVTUNE_DEPENDENCIES "")
set(covtune_MISSING "")

find_package(PkgConfig QUIET)
foreach(name jansson)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(covtune_${name} QUIET IMPORTED_TARGET ${name})
  endif()
  if(covtune_${name}_FOUND)
    list(APPEND COVTUNE_DEPENDENCIES PkgConfig::covtune_${name})
  else()
    list(APPEND covtune_MISSING ${name})
  endif()
endforeach()

# Of SuiteSparse the orderings alone, which are BSD; its older releases have no pkg-config files.
set(COVTUNE_SUITESPARSE amd camd ccolamd suitesparseconfig)
find_path(COVTUNE_SUITESPARSE_INCLUDE_DIR amd.h PATH_SUFFIXES suitesparse)
mark_as_advanced(COVTUNE_SUITESPARSE_INCLUDE_DIR)
foreach(name ${COVTUNE_SUITESPARSE})
  find_library(COVTUNE_${name}_LIBRARY ${name})
  mark_as_advanced(COVTUNE_${name}_LIBRARY)
  if(COVTUNE_${name}_LIBRARY AND COVTUNE_SUITESPARSE_INCLUDE_DIR)
    if(NOT TARGET covtune::${name})
      add_library(covtune::${name} UNKNOWN IMPORTED)
      set_target_properties(covtune::${name} PROPERTIES IMPORTED_LOCATION ${COVTUNE_${name}_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${COVTUNE_SUITESPARSE_INCLUDE_DIR})
    endif()
    list(APPEND COVTUNE_DEPENDENCIES covtune::${name})
  else()
    list(APPEND covtune_MISSING ${name})
  endif()
endforeach()
list(APPEND COVTUNE_DEPENDENCIES m)
