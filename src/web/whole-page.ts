/** How both scripts of a kiosk recognize a page that they may show. */

/**
 * A kiosk's page of any release, with its style sheet and its script, which no page of a proxy or a
 * portal has. A proxy may also send only half of it.
 */
export const WHOLE_PAGE = /"kiosk">.*\/page-\w+\.css".*\/page-\w+\.js".*<\/html>\s*$/s;
