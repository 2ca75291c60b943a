# The library: all layers up to the engine in one archive, tinyot::tinyot, and in one shared object,
# tinyot::shared, of the same object files; with the public headers.
include(GNUInstallDirs)

set(TINYOT_LAYERS base system material crypto net checks offline storage circuitgen online engine)
function(tinyot_add_library target type name)
  add_library(${target} ${type})
  add_library(tinyot::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME tinyot EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  foreach(layer ${TINYOT_LAYERS} handshake_proto manifest_proto)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:tinyot_${layer}>)
  endforeach()
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE
    PkgConfig::CRYPTOPP PkgConfig::SODIUM PkgConfig::LMDB PkgConfig::HWY protobuf::libprotobuf
    OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
endfunction()

# The command links the static one, whose calls between files are direct.
tinyot_add_library(tinyot_library STATIC tinyot)
if(TINYOT_SHARED)
  tinyot_add_library(tinyot_shared SHARED shared)
  # A minor version may change the binary interface before 1.0, and a major one then.
  set(TINYOT_ABI ${PROJECT_VERSION_MAJOR})
  if(TINYOT_ABI EQUAL 0)
    set(TINYOT_ABI 0.${PROJECT_VERSION_MINOR})
  endif()
  set_target_properties(tinyot_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${TINYOT_ABI})
  # Without instances of templates of the standard library, which are not hidden by the compiler.
  set(exported ${CMAKE_CURRENT_LIST_DIR}/exported)
  target_link_options(tinyot_shared PRIVATE LINKER:--version-script=${exported})
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_options(tinyot_shared PRIVATE LINKER:--no-undefined)
  endif()
  set_target_properties(tinyot_shared PROPERTIES LINK_DEPENDS ${exported})
endif()

if(TINYOT_INSTALL)
  include(CMakePackageConfigHelpers)
  set(TINYOT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tinyot)
  install(TARGETS tinyot_library EXPORT tinyotTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT tinyotTargets NAMESPACE tinyot:: DESTINATION ${TINYOT_CMAKE_DIR})
  # Of the static library. Requires.private would ask for their packages with --cflags, too, which
  # programs with the shared one need not have.
  set(TINYOT_PC_LIBS " -lcryptopp -lsodium -llmdb -lhwy -lprotobuf -lssl -lcrypto -pthread")
  set(TINYOT_PC_PRIVATE_LIBS)
  if(TINYOT_SHARED)
    set(TINYOT_PC_PRIVATE_LIBS "${TINYOT_PC_LIBS}")
    set(TINYOT_PC_LIBS)
    install(TARGETS tinyot_shared EXPORT tinyotSharedTargets
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT tinyotSharedTargets NAMESPACE tinyot:: DESTINATION ${TINYOT_CMAKE_DIR})
  endif()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tinyot
                    ${PROJECT_BINARY_DIR}/generated/include/tinyot
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
  configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tinyotConfig.cmake.in
    ${PROJECT_BINARY_DIR}/generated/tinyotConfig.cmake INSTALL_DESTINATION ${TINYOT_CMAKE_DIR})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/tinyotConfigVersion.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/generated/tinyotConfig.cmake
                ${PROJECT_BINARY_DIR}/generated/tinyotConfigVersion.cmake
          DESTINATION ${TINYOT_CMAKE_DIR})
  file(RELATIVE_PATH TINYOT_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/tinyot.pc.in ${PROJECT_BINARY_DIR}/generated/tinyot.pc
                 @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/generated/tinyot.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  # The documents, and what they link to, at the same paths as in the sources.
  foreach(document README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md storage/FORMAT.md
                   storage/COMMITS.md custody/FORMAT.md service/config.proto)
    get_filename_component(folder ${document} DIRECTORY)
    install(FILES ${PROJECT_SOURCE_DIR}/${document} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
  endforeach()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/doc DESTINATION ${CMAKE_INSTALL_DOCDIR}
          FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.jsonl" PATTERN "*.csv")
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/service/tinyot
          DESTINATION ${CMAKE_INSTALL_DOCDIR}/service FILES_MATCHING PATTERN "*.proto")
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/packaging/monitoring
                    ${PROJECT_SOURCE_DIR}/packaging/slurm
          DESTINATION ${CMAKE_INSTALL_DOCDIR}/packaging USE_SOURCE_PERMISSIONS)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/examples
          DESTINATION ${CMAKE_INSTALL_DOCDIR}/python FILES_MATCHING PATTERN "*.ipynb")
  if(TINYOT_COMMAND)
    install(TARGETS tinyot RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/bench/report
            DESTINATION ${CMAKE_INSTALL_DATADIR}/tinyot FILES_MATCHING PATTERN "*.py")
    add_subdirectory(${PROJECT_SOURCE_DIR}/packaging ${PROJECT_BINARY_DIR}/packaging)
  endif()
endif()
