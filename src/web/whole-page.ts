/** How both scripts of a kiosk recognize a page that they may show. */

/** A kiosk's page of any release. A proxy may send half of it, or a page of its own. */
export const WHOLE_PAGE = /"kiosk">.*<\/html>\s*$/s;
