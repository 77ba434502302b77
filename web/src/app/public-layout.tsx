import { Outlet } from '@tanstack/react-router'
import { PublicFrame } from './public-frame.tsx'

/** Set-up, invitations and links for a new password. */
export function PublicLayout() {
  return (
    <PublicFrame>
      <Outlet />
    </PublicFrame>
  )
}
