# covtune-study: learning against what could have been learned. compare and reproduce are commands of covtune.
add_executable(covtune_study studies/learning/learning.c studies/study_grid.c studies/method_presets.c
  studies/nav_data.c)
target_include_directories(covtune_study PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(covtune_study PRIVATE covtune_static covtune_flags m)
set_target_properties(covtune_study PROPERTIES OUTPUT_NAME covtune-study RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
add_test(NAME test_study_quick COMMAND covtune_study --quick)
set_tests_properties(test_study_quick PROPERTIES LABELS long)
# covtune-tune-study: methods of tune on covtune's own estimates as a black box, against the oracle.
add_executable(covtune_tune_study studies/tuning/tuning.c studies/tuning/black_box.c studies/nav_data.c)
target_include_directories(covtune_tune_study PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(covtune_tune_study PRIVATE covtune_static covtune_flags m)
set_target_properties(covtune_tune_study PROPERTIES OUTPUT_NAME covtune-tune-study RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
add_test(NAME test_tune_study_quick COMMAND covtune_tune_study --quick)
