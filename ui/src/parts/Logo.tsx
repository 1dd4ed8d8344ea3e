/** The lookout's eye. */
export function Logo({ size = 22 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden>
      <rect width="32" height="32" rx="8" fill="#4f52c9" />
      <path d="M4 16c3.2-5 7.2-7.5 12-7.5S24.8 11 28 16c-3.2 5-7.2 7.5-12 7.5S7.2 21 4 16Z" fill="none" stroke="#fff" strokeWidth="2.2" strokeLinejoin="round" />
      <circle cx="16" cy="16" r="4.2" fill="#fff" />
      <path d="M16 11.8v8.4" stroke="#4f52c9" strokeWidth="1.8" />
    </svg>
  )
}
