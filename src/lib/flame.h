/*
 * The style sheet and the script of flame graphs. vkb-flame puts them into its
 * documents as they are; a page that shows such a document in a frame allows
 * these, and no other ones, by their hashes.
 */
#ifndef FLAME_H
#define FLAME_H

const char *flame_get_style(void);
const char *flame_get_script(void);

#endif
