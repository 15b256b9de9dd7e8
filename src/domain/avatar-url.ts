/** The URL of a user's avatar. Without a picture of their own, it is that of a drawing. */

/** Returns the avatar as an absolute URL. */
export function completeAvatar(userId: number, avatar: string | null, baseUrl: string): string {
  const url = avatar ?? `/avatars/${userId}.svg`;
  return url.startsWith("/") ? baseUrl + url : url;
}
