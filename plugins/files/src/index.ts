/**
 * The `files` plugin: text files inside the workspace, and nothing outside of it.
 *
 * Promise: see `workspace.ts` for what keeps a path inside, `write.ts` for how a file is replaced.
 */
import { definePlugin } from '@chassis/sdk';
import { listFiles } from './list.ts';
import { readFile } from './read.ts';
import { searchFiles } from './search.ts';
import { editFile, writeFile } from './write.ts';

export default definePlugin({
  tools: {
    read_file: readFile,
    write_file: writeFile,
    edit_file: editFile,
    list_files: listFiles,
    search_files: searchFiles,
  },
});
