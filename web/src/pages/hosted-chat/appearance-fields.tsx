import { Button, FileButton, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { getJson } from '../../api/client.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { notifyError } from '../../ui/notify.ts'
import { Section } from '../../ui/section.tsx'
import { defaultColour } from '../../../visitor/page/colour.ts'
import type { FieldsProps } from './access-fields.tsx'
import styles from './hosted-chat.module.css'
import { Preview } from './preview.tsx'

/** What the server accepts: a data URL of at most 64 KiB. */
const maximumLogoBytes = 48 * 1024

/** Title, colours and words, next to a preview that follows every key. */
export function AppearanceFields(props: FieldsProps & { spaceId: string }) {
  const { draft, onChange, errors, spaceId } = props
  const { t } = useTranslation('hosted-chat')
  return (
    <Section title={t('look.heading')}>
      <div className={styles['look']}>
        <Stack gap="md">
          <TextInput
            label={t('look.title')}
            value={draft.title}
            onChange={({ currentTarget }) => onChange({ title: currentTarget.value })}
            error={errors['title']}
            maxLength={80}
            required
          />
          <Textarea
            label={t('look.greeting')}
            value={draft.greeting}
            onChange={({ currentTarget }) => onChange({ greeting: currentTarget.value })}
            error={errors['greeting']}
            maxLength={1_000}
            autosize
            minRows={2}
            maxRows={8}
          />
          <Suggestions {...props} spaceId={spaceId} />
          <Group align="flex-end" gap="sm">
            <TextInput
              type="color"
              label={t('look.colour')}
              value={draft.colour ?? defaultColour}
              onChange={({ currentTarget }) => onChange({ colour: currentTarget.value })}
              error={errors['colour']}
              w={120}
            />
            {draft.colour !== null && (
              <Button variant="subtle" onClick={() => onChange({ colour: null })}>
                {t('look.noColour')}
              </Button>
            )}
          </Group>
          <Dimmed size="xs" mt={-8}>
            {t('look.colourHint')}
          </Dimmed>
          <Logo {...props} />
        </Stack>
        <Preview draft={draft} />
      </div>
    </Section>
  )
}

function Suggestions({ draft, onChange, errors, spaceId }: FieldsProps & { spaceId: string }) {
  const { t } = useTranslation('hosted-chat')
  const [isLoading, setLoading] = useState(false)
  const propose = async () => {
    setLoading(true)
    try {
      const { questions } = await getJson<{ questions: string[] }>(`/api/spaces/${spaceId}/site/suggestions`)
      if (questions.length > 0) onChange({ suggestions: questions.join('\n') })
    } catch (error) {
      notifyError(error)
    } finally {
      setLoading(false)
    }
  }
  return (
    <div>
      <Textarea
        label={t('look.suggestions')}
        description={t('look.suggestionsHint')}
        value={draft.suggestions}
        onChange={({ currentTarget }) => onChange({ suggestions: currentTarget.value })}
        error={errors['suggestions']}
        autosize
        minRows={3}
        maxRows={8}
      />
      <Button variant="subtle" size="compact-sm" mt={4} loading={isLoading} onClick={() => void propose()}>
        {t('look.propose')}
      </Button>
    </div>
  )
}

function Logo({ draft, onChange, errors }: FieldsProps) {
  const { t } = useTranslation('hosted-chat')
  const [problem, setProblem] = useState<string>()
  const read = (file: File | null) => {
    if (!file) return
    if (!/^image\/(?:png|jpeg|webp)$/.test(file.type) || file.size > maximumLogoBytes) {
      setProblem(t('look.logoProblem'))
      return
    }
    const reader = new FileReader()
    reader.addEventListener('load', () => {
      setProblem(undefined)
      onChange({ logo: String(reader.result) })
    })
    reader.readAsDataURL(file)
  }
  const error = problem ?? errors['logo']
  return (
    <div>
      <Text size="sm" fw={500}>
        {t('look.logo')}
      </Text>
      <Dimmed size="xs" mb={6}>
        {t('look.logoHint')}
      </Dimmed>
      <Group gap="sm">
        <FileButton onChange={read} accept="image/png,image/jpeg,image/webp">
          {(button) => (
            <Button variant="default" {...button}>
              {t('look.chooseLogo')}
            </Button>
          )}
        </FileButton>
        {draft.logo !== null && (
          <Button variant="subtle" onClick={() => onChange({ logo: null })}>
            {t('look.removeLogo')}
          </Button>
        )}
      </Group>
      {error !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert" mt={4}>
          {error}
        </Text>
      )}
    </div>
  )
}
