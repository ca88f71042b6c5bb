if HAVE_CHECK
check_PROGRAMS += %D%/test_gpu_survey
%C%_test_gpu_survey_SOURCES = %D%/test_gpu_survey.c %D%/test_free_gpus.c %D%/free_gpus.h
%C%_test_gpu_survey_LDADD = libserver.a $(CPU_LIBS) $(CHECK_LIBS) $(JANSSON_LIBS) $(PTHREAD_LIBS)
%C%_test_gpu_survey_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
endif
