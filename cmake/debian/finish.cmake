# Run by cpack on the files of the package: what Debian's policy asks for beyond `make install`. Man pages and the
# changelog are compressed, the licence is called copyright.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(doc ${root}/share/doc/covtune)
file(RENAME ${doc}/LICENSE ${doc}/copyright)
set(date "Thu, 01 Jan 1970 00:00:00 +0000")
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND date -u -R -d "@$ENV{SOURCE_DATE_EPOCH}" OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
file(WRITE ${doc}/changelog.Debian "covtune (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Built from the sources. CHANGELOG.md has what changed.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
file(GLOB compressed ${root}/share/man/man1/*.1 ${doc}/changelog.Debian)
execute_process(COMMAND gzip -9n ${compressed} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND chmod -R u=rwX,go=rX ${CPACK_TEMPORARY_INSTALL_DIRECTORY} COMMAND_ERROR_IS_FATAL ANY)
