#!/bin/sh
# Installs the headers, both libraries and the files by which pkg-config and CMake find them, or removes them again:
# src/install.sh install|uninstall VERSION BUILD_DIR DESTDIR INCLUDEDIR LIBDIR, from the project's top folder. `make install` calls it.
#
# Both go over one list, so that uninstall forgets nothing. What is installed can be moved as a whole: files name each other from
# their own place.
#
# The C++ surface calls functions whose names change with the version. They are in the static library alone, and -lattend finds no
# other: the shared one has the C surface, and is -lattend_c.
action=$1 version=$2 build=$3 destination=$4 include=$5 lib=$6
major=${version%%.*}

each() { # what-to-do: called with a file that is installed, and its mode and source or, of a link, where it points to
  for header in include/attend/*.h include/attend/*/*.h; do $1 "$include/${header#include/}" 644 "$header"; done
  $1 "$lib/libattend.a" 644 "$build/libattend.a"
  $1 "$lib/libattend_c.so.$version" 755 "$build/libattend.so"
  $1 "$lib/libattend_c.so.$major" link "libattend_c.so.$version"
  $1 "$lib/libattend_c.so" link "libattend_c.so.$major"
  $1 "$lib/pkgconfig/attend.pc" 644 "$build/attend.pc"
  $1 "$lib/pkgconfig/attend_c.pc" 644 "$build/attend_c.pc"
  $1 "$lib/cmake/attend/attend-config.cmake" 644 "$build/attend-config.cmake"
  $1 "$lib/cmake/attend/attend-config-version.cmake" 644 "$build/attend-config-version.cmake"
}

put() {
  mkdir -p "$destination${1%/*}" || exit 1
  if [ "$2" = link ]; then
    ln -sf "$3" "$destination$1" || exit 1
  else
    cp "$3" "$destination$1" && chmod "$2" "$destination$1" || exit 1
  fi
}

# Folders go too, where nothing else is in them.
remove() {
  rm -f "$destination$1"
  folder=$destination${1%/*}
  while [ "$folder" != "$destination" ] && rmdir "$folder" 2>/dev/null; do folder=${folder%/*}; done
}

# From one folder to another: up as far as they differ, and down again.
relative() { # from to
  from=$1/ to=$2/
  while [ -n "$from" ] && [ "${from%%/*}" = "${to%%/*}" ]; do from=${from#*/} to=${to#*/}; done
  echo "$(echo "$from" | sed 's|[^/]*/|../|g')${to%/}"
}

pkg_config() { # name what-it-is
  cat >"$build/$1.pc" <<END
libdir=\${pcfiledir}/..
includedir=\${pcfiledir}/$(relative "$lib/pkgconfig" "$include")

Name: $1
Description: transformer attention with the same bits on every processor: $2
Version: $version
Libs: -L\${libdir} -l$1
Cflags: -I\${includedir}
END
}

describe() {
  pkg_config attend 'the static library, for C++ and C'
  pkg_config attend_c 'the shared library, for C alone'
  cat >"$build/attend-config.cmake" <<END
get_filename_component(attend_here "\${CMAKE_CURRENT_LIST_DIR}" REALPATH)
if(NOT TARGET attend::attend)
  add_library(attend::attend STATIC IMPORTED)
  set_target_properties(attend::attend PROPERTIES
    IMPORTED_LOCATION "\${attend_here}/../../libattend.a"
    INTERFACE_INCLUDE_DIRECTORIES "\${attend_here}/$(relative "$lib/cmake/attend" "$include")")
endif()
END
  cat >"$build/attend-config-version.cmake" <<END
set(PACKAGE_VERSION "$version")
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
if(PACKAGE_FIND_VERSION_MAJOR STREQUAL "$major" AND NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
END
}

case $action in
  install) describe && each put ;;
  uninstall) each remove ;;
  *) echo "usage: src/install.sh install|uninstall VERSION BUILD_DIR DESTDIR INCLUDEDIR LIBDIR" >&2 && exit 2 ;;
esac
