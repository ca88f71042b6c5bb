# Pictures and arrays, compared with Pillow and NumPy where there are these
dist_check_SCRIPTS += %D%/npz.py %D%/pictures.py
EXTRA_DIST += %D%/png_file.py
EXTRA_PROGRAMS += %D%/picture_tool
check_DATA += %D%/picture_tool$(EXEEXT)
CLEANFILES += %D%/picture_tool$(EXEEXT)
%C%_picture_tool_SOURCES = %D%/picture_tool.c %D%/write_jpeg.c %D%/write_jpeg.h
%C%_picture_tool_LDADD = libdata.a libbase.a $(DATA_LIBS)
if HAVE_CHECK
check_PROGRAMS += %D%/test_filter %D%/test_folder %D%/test_list
%C%_test_folder_SOURCES = %D%/test_folder.c %D%/write_jpeg.c %D%/write_jpeg.h tests/support.c \
	tests/support.h
%C%_test_folder_LDADD = libdata.a libbase.a $(CHECK_LIBS) $(DATA_LIBS)
%C%_test_list_SOURCES = %D%/test_list.c tests/support.c tests/support.h
%C%_test_list_LDADD = $(%C%_test_folder_LDADD)
%C%_test_filter_LDADD = $(%C%_test_folder_LDADD)
endif
