// Runs before anything is painted, so that a dark page does not begin with a white flash.
;(function () {
  var kept = null
  try {
    kept = localStorage.getItem('lynceus-scheme')
  } catch (refused) {
    kept = null
  }
  var dark = kept === 'dark' || (kept !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
})()
