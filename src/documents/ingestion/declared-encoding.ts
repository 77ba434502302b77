/** The charset of a stored media type, such as `text/plain; charset=latin1`. */
export function declaredEncodingOf({ mimeType }: { mimeType: string }): string | undefined {
  return /charset=(\S+)/.exec(mimeType)?.[1]
}
