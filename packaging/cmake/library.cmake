# The library: all layers up to the engine in one archive, with the public headers.
include(GNUInstallDirs)

set(TINYOT_LAYERS base system material crypto net checks offline storage circuitgen online engine)
add_library(tinyot_library STATIC)
add_library(tinyot::tinyot ALIAS tinyot_library)
set_target_properties(tinyot_library PROPERTIES OUTPUT_NAME tinyot EXPORT_NAME tinyot)
foreach(layer ${TINYOT_LAYERS} handshake_proto manifest_proto)
  target_sources(tinyot_library PRIVATE $<TARGET_OBJECTS:tinyot_${layer}>)
endforeach()
set_target_properties(tinyot_library PROPERTIES LINKER_LANGUAGE CXX)
target_compile_features(tinyot_library PUBLIC cxx_std_20)
target_include_directories(tinyot_library INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(tinyot_library PRIVATE
  PkgConfig::CRYPTOPP PkgConfig::SODIUM PkgConfig::LMDB PkgConfig::HWY protobuf::libprotobuf
  OpenSSL::SSL OpenSSL::Crypto Threads::Threads)

if(TINYOT_INSTALL)
  include(CMakePackageConfigHelpers)
  set(TINYOT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tinyot)
  install(TARGETS tinyot_library EXPORT tinyotTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT tinyotTargets NAMESPACE tinyot:: DESTINATION ${TINYOT_CMAKE_DIR})
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
  if(TINYOT_COMMAND)
    install(TARGETS tinyot RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/bench/report
            DESTINATION ${CMAKE_INSTALL_DATADIR}/tinyot FILES_MATCHING PATTERN "*.py")
    add_subdirectory(${PROJECT_SOURCE_DIR}/packaging ${PROJECT_BINARY_DIR}/packaging)
  endif()
endif()
