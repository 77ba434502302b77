import { Button, FileButton, Group, Stack, Textarea } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { notifyError } from '../../ui/notify.ts'
import type { ServerDraft } from './server-draft.ts'

/** Larger files are not read into the page. */
const maximumFileBytes = 4_000_000

/** An OpenAPI file, pasted or selected. */
export function DocumentField(props: {
  draft: ServerDraft
  onChange: (change: Partial<ServerDraft>) => void
  error: string | undefined
  /** The server has tools of an earlier file. */
  isStored: boolean
}) {
  const { draft, onChange, error, isStored } = props
  const { t } = useTranslation('space-tools')
  const take = async (file: File | null) => {
    if (!file) return
    try {
      onChange({ document: await file.slice(0, maximumFileBytes).text() })
    } catch (failure) {
      notifyError(failure)
    }
  }
  return (
    <Stack gap="xs">
      <Textarea
        label={t('document')}
        description={isStored ? t('documentStored') : t('documentHint')}
        rows={5}
        value={draft.document}
        error={error}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        onChange={({ currentTarget }) => onChange({ document: currentTarget.value })}
      />
      <Group>
        <FileButton accept=".json,.yaml,.yml,application/json" onChange={(file) => void take(file)}>
          {(button) => (
            <Button {...button} variant="default" size="xs">
              {t('selectFile')}
            </Button>
          )}
        </FileButton>
      </Group>
    </Stack>
  )
}
