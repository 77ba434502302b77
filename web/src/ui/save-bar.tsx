import { Dimmed } from './dimmed.tsx'
import { Button, Group, Paper } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { LeaveGuard } from './leave-guard.tsx'

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
              <Dimmed role="status">{t('settings.unsaved')}</Dimmed>
            </>
          )}
        </Group>
      </Paper>
      <LeaveGuard isDirty={isDirty && !isSaving} />
      {form.dialog(onSave)}
    </>
  )
}
