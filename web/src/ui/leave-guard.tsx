import { useBlocker } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { AskToDiscard } from './close-guard.tsx'

/**
 * Asks before a page with unsaved changes is left. The browser asks before it is closed. `keepsWithinPath`: the changes outlive other states of the
 * same page.
 */
export function LeaveGuard({ isDirty, keepsWithinPath = false }: { isDirty: boolean; keepsWithinPath?: boolean }) {
  const { t } = useTranslation()
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && !(keepsWithinPath && current.pathname === next.pathname),
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  })
  if (blocker.status !== 'blocked') return null
  return (
    <AskToDiscard
      title={t('settings.leaveTitle')}
      text={t('settings.leaveText')}
      stay={t('settings.stay')}
      leave={t('settings.leave')}
      onStay={blocker.reset}
      onLeave={blocker.proceed}
    />
  )
}
