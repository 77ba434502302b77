import { Button, Group, Modal, Paper, Stack, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

interface SaveBarProps {
  /** What `useSharedDraft` returns. */
  form: { isDirty: boolean; discard: () => void; dialog: (onKeepMine: () => void) => ReactNode }
  isSaving: boolean
  /** Saves once more, after a conflict. */
  onSave: () => void
  /** The label where the settings do not exist yet: they can be saved as they are. */
  create?: string | undefined
}

/**
 * The end of a form of settings: saves and discards. It stays at the lower edge of the window while there is something to save, asks before the
 * page is left, and shows what another person has changed meanwhile.
 */
export function SaveBar({ form, isSaving, onSave, create }: SaveBarProps) {
  const { t } = useTranslation()
  const { isDirty } = form
  return (
    <>
      <Paper pos={isDirty ? 'sticky' : undefined} bottom={0} py="sm" style={{ zIndex: 2 }}>
        <Group gap="sm">
          <Button type="submit" loading={isSaving} disabled={!isDirty && create === undefined}>
            {create ?? t('settings.save')}
          </Button>
          {isDirty && !isSaving && create === undefined && (
            <>
              <Button variant="default" onClick={form.discard}>
                {t('settings.discard')}
              </Button>
              <Text size="sm" c="dimmed" role="status">
                {t('settings.unsaved')}
              </Text>
            </>
          )}
        </Group>
      </Paper>
      <LeaveGuard isDirty={isDirty && !isSaving} />
      {form.dialog(onSave)}
    </>
  )
}

/** Asks before a page with unsaved changes is left. The browser asks before it is closed. */
function LeaveGuard({ isDirty }: { isDirty: boolean }) {
  const { t } = useTranslation()
  const blocker = useBlocker({
    shouldBlockFn: () => isDirty,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  })
  if (blocker.status !== 'blocked') return null
  return (
    <Modal opened onClose={blocker.reset} title={t('settings.leaveTitle')}>
      <Stack>
        <Text size="sm">{t('settings.leaveText')}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={blocker.reset} data-autofocus>
            {t('settings.stay')}
          </Button>
          <Button color="red.9" onClick={blocker.proceed}>
            {t('settings.leave')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
