/** The sign-in page is a separate document (web/sign-in.html), outside of the router. It leads back to `returnTo`, an address of the router. */
export function signInAddress(returnTo?: string): string {
  return `/console/sign-in${returnTo === undefined ? '' : `?${new URLSearchParams({ returnTo })}`}`
}
