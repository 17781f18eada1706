"""`tf.contrib.linalg`: linear operators, under the place and the name that they had at first."""

from penstock.linalg import LinearOperator as LinearOperator
from penstock.linalg import LinearOperatorComposition as LinearOperatorComposition
from penstock.linalg import LinearOperatorDiag as LinearOperatorDiag
from penstock.linalg import LinearOperatorFullMatrix as LinearOperatorFullMatrix
from penstock.linalg import LinearOperatorIdentity as LinearOperatorIdentity
from penstock.linalg import LinearOperatorLowerTriangular as LinearOperatorLowerTriangular
from penstock.linalg import LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate
from penstock.linalg import LinearOperatorScaledIdentity as LinearOperatorScaledIdentity
from penstock.linear_operators.addition import add_operators as add_operators

LinearOperatorTriL = LinearOperatorLowerTriangular
LinearOperatorMatrix = LinearOperatorFullMatrix
LinearOperatorUDVHUpdate = LinearOperatorLowRankUpdate
