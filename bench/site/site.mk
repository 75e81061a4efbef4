# The site, and the program that its playground is compared with.
#: site        every page, and a reference of all surfaces and of the command with a search, as a site that asks nobody for anything, in build/site (needs python3-clang-19, python3-markdown-it, python3-pygments)
.PHONY: site
site:
	@sh bench/site/make.sh build/site

# Prints what the page's playground and the npm package are compared with.
$(BUILD)/playground_native: $(BUILD)/bench/site/playground/native.o $(BUILD)/libattend.a $(filter-out %/run.o,$(APPLICATION))
	$(call link)
