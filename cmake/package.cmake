# `make deb`: one Debian package with program, libraries, headers, documents, man pages and completion. Dependencies are
# those of the binaries (dpkg-shlibdeps). The static library needs the development packages as well, which are suggested.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME covtune)
set(CPACK_PACKAGE_VENDOR "The covtune developers")
set(CPACK_PACKAGE_CONTACT "The covtune developers <developers@covtune.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "learns the noise covariances of a state estimator")
set(CPACK_PACKAGE_DESCRIPTION "covtune learns the noise covariances of factor-graph state
estimators from recorded sequences with ground truth. It evaluates them
on held-out sequences and exports them for GTSAM, g2o, ROS and other
programs. This package has the program, the C library, its headers and
the documents.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libjansson-dev, libcyaml-dev, libnlopt-dev, libsuitesparse-dev, libyaml-dev")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian/finish.cmake)
include(CPack)
